-- name: create_tenant
INSERT INTO affinity.tenants (name) VALUES ($1) ON CONFLICT DO NOTHING;

-- name: tenant
SELECT id FROM affinity.tenants WHERE name = $1;

-- name: usage
-- An event takes about 500 bytes with its index and its idempotency key (`checks.bench.trail`), and its answers.
SELECT t.most_campaigns, t.most_events, t.most_bytes, count(h.campaign) AS campaigns,
  coalesce(sum(h.events), 0)::bigint AS events,
  coalesce(sum(h.bytes + 500 * h.events), 0)::bigint AS bytes
FROM affinity.tenants AS t LEFT JOIN affinity.heads AS h ON h.tenant = t.id
WHERE t.id = $1 OR t.name = $2 GROUP BY t.id;

-- name: set_quotas
UPDATE affinity.tenants SET most_campaigns = coalesce($2, most_campaigns),
  most_events = coalesce($3, most_events), most_bytes = coalesce($4, most_bytes)
WHERE name = $1 AND ($2, $3, $4) IS DISTINCT FROM (NULL::bigint, NULL::bigint, NULL::bigint);

-- name: make_key
INSERT INTO affinity.api_keys (id, tenant, name, secret_digest, scopes, requests_per_second,
  largest_body, expires_at, parent)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: revoke_key
UPDATE affinity.api_keys SET revoked_at = clock_timestamp(), revoked_by = $2
WHERE id = $1 AND revoked_at IS NULL RETURNING id;

-- name: list_keys
SELECT k.id AS key_id, t.name AS tenant, k.name, k.scopes, k.requests_per_second, k.largest_body,
  k.created_at, k.expires_at, k.revoked_at, k.revoked_by
FROM affinity.api_keys AS k JOIN affinity.tenants AS t ON t.id = k.tenant
WHERE $1::bigint IS NULL OR k.tenant = $1 ORDER BY k.created_at, k.id;

-- name: forget_sessions
DELETE FROM affinity.api_keys WHERE tenant = $1 AND parent IS NOT NULL
  AND (expires_at < clock_timestamp() OR revoked_at IS NOT NULL);

-- name: key
SELECT k.tenant, k.secret_digest, k.scopes, k.requests_per_second, k.largest_body, k.expires_at,
  k.parent
FROM affinity.api_keys AS k LEFT JOIN affinity.api_keys AS p ON p.id = k.parent
WHERE k.id = $1 AND k.revoked_at IS NULL AND p.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp());
