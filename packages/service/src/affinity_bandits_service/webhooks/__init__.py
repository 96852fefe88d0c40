"""Webhooks: notices about campaigns, signed, and sent until they are received."""
