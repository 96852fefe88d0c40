-- name: may_remove
SELECT has_function_privilege('affinity.remove_rows(uuid, integer)', 'EXECUTE')
  AND pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'affinity.events'::regclass), 'MEMBER');

-- name: without_limits
SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;

-- name: head_to_archive
SELECT h.status, h.events, (SELECT max(l.expires_at) FROM affinity.leases AS l
    WHERE l.campaign = h.campaign AND NOT affinity.is_past(l.expires_at,
      coalesce($2, clock_timestamp()), h.lease_seconds)) AS leased_until
FROM affinity.heads AS h WHERE h.campaign = $1 FOR UPDATE;

-- name: events_to_archive
-- As text, so that nothing of a row is left out, whatever columns a version has.
SELECT e.number, e.at, e.kind, e.actor, e.round, row_to_json(e)::text AS row
FROM affinity.page($1, $2, $3) AS e ORDER BY e.number;

-- name: campaign_to_archive
SELECT json_build_object('tenant', t.name, 'campaign', row_to_json(c), 'head', row_to_json(h),
  'rounds', (SELECT coalesce(json_agg(row_to_json(r) ORDER BY r.number), '[]')
    FROM affinity.rounds AS r WHERE r.campaign = c.id))::text
FROM affinity.campaigns AS c JOIN affinity.heads AS h ON h.campaign = c.id
JOIN affinity.tenants AS t ON t.id = c.tenant WHERE c.id = $1;

-- name: begin_removal
SELECT affinity.begin_removal($1, $2, $3);

-- name: remove_rows
SELECT affinity.remove_rows($1, $2);

-- name: removals_begun
-- Archives and deletions that a command did not live to finish.
SELECT r.campaign, r.detail FROM affinity.removals AS r JOIN affinity.campaigns AS c ON c.id = r.campaign
ORDER BY r.number;

-- name: tenant_to_remove
SELECT id FROM affinity.tenants WHERE name = $1 FOR UPDATE;

-- name: end_keys_of
UPDATE affinity.api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE tenant = $1 RETURNING id, parent;

-- name: campaigns_to_remove
SELECT id FROM affinity.campaigns WHERE tenant = $1 ORDER BY number;

-- name: remove_tenant
SELECT affinity.remove_tenant($1, $2, $3);

-- name: removals
SELECT at, by, role, tenant, campaign, detail FROM affinity.removals ORDER BY number;

-- name: next_to_expire
SELECT h.campaign FROM affinity.heads AS h
JOIN affinity.events AS e ON e.campaign = h.campaign AND e.number = h.events
WHERE h.status IN ('exhausted', 'stopped')
  AND e.at < coalesce($2, clock_timestamp()) - make_interval(secs => $1)
  AND EXISTS (SELECT FROM affinity.requests AS q WHERE q.campaign = h.campaign) LIMIT 1;

-- name: expire_requests
DELETE FROM affinity.requests WHERE campaign = $1 AND key = ANY (ARRAY(
  SELECT key FROM affinity.requests WHERE campaign = $1 LIMIT $2)) RETURNING key;
