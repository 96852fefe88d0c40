"""The schema's history, one migration a file; `migrate` brings a database up to date."""
