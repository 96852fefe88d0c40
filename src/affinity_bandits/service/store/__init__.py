"""PostgreSQL: connections, the current schema (`sql`) and the steps to it (`migrations`)."""
