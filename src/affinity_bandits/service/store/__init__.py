"""PostgreSQL: connections, the schema as it is now (`sql`), the steps to it (`migrations`)."""
