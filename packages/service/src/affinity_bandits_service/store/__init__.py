"""PostgreSQL: connections, the schema and every query (`sql`)."""
