"""Migrations in their order."""
