-- name: has_schema
-- Whether there is a table of the schema's owner with its version, and not a view or a stranger's.
SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = 'affinity' AND c.relname = 'schema_version' AND c.relkind = 'r'
    AND c.relowner = n.nspowner);

-- name: schema_version
SELECT version, serves FROM affinity.schema_version;

-- name: set_schema_version
WITH before AS (DELETE FROM affinity.schema_version)
INSERT INTO affinity.schema_version (version, serves) VALUES ($1, $2);

-- name: owner_of_schema
SELECT pg_get_userbyid(n.nspowner) AS owner, current_user AS role FROM pg_namespace AS n
WHERE n.nspname = 'affinity';

-- name: database
SELECT current_database()::text AS name, to_regnamespace('affinity') IS NOT NULL AS migrated;
