-- name: webhooks_for
SELECT w.id, c.name, c.arms, h.status, clock_timestamp() AS now
FROM affinity.campaigns AS c
JOIN affinity.heads AS h ON h.campaign = c.id
JOIN affinity.webhooks AS w ON w.tenant = c.tenant
WHERE c.id = $1 AND w.removed_at IS NULL AND $2 = ANY (w.kinds)
  AND NOT ($3 AND EXISTS (SELECT FROM affinity.notices AS n
    WHERE n.webhook = w.id AND NOT n.dead AND n.campaign = c.id AND n.kind = $2))
  AND (SELECT count(*) FROM (SELECT FROM affinity.notices AS n WHERE n.webhook = w.id LIMIT $4)
    AS owed) < $4;

-- name: add_notice
INSERT INTO affinity.notices (webhook, campaign, kind, body) VALUES ($1, $2, $3, $4);

-- name: lock_head
SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE;

-- name: lock_tenant
-- So that two requests at once do not both find room for one more.
SELECT pg_advisory_xact_lock(44, ($1::bigint % 2147483647)::integer);

-- name: count_webhooks
SELECT count(*) FROM affinity.webhooks WHERE tenant = $1 AND removed_at IS NULL;

-- name: add_webhook
INSERT INTO affinity.webhooks (id, tenant, url, secret, kinds, created_by)
VALUES ($1, $2, $3, $4, $5, $6);

-- name: webhooks_of
SELECT w.id, w.url, w.kinds, w.created_at, w.created_by, w.last_failure, n.waiting, n.dead
FROM affinity.webhooks AS w, LATERAL (
  SELECT count(*) FILTER (WHERE NOT n.dead) AS waiting, count(*) FILTER (WHERE n.dead) AS dead
  FROM affinity.notices AS n WHERE n.webhook = w.id) AS n
WHERE w.tenant = $1 AND w.removed_at IS NULL ORDER BY w.created_at, w.id;

-- name: lock_webhook
-- Also one that is removed: see `created_before`.
SELECT FROM affinity.webhooks WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE;

-- name: remove_webhook
UPDATE affinity.webhooks SET removed_at = clock_timestamp()
WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING id;

-- name: forget_notices
DELETE FROM affinity.notices WHERE webhook = $1 RETURNING number;

-- name: retry_webhook
UPDATE affinity.webhooks SET retry_at = clock_timestamp(), pause = 0
WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING id;

-- name: revive_notices
UPDATE affinity.notices SET dead = false, tries = 0, created_at = clock_timestamp()
WHERE webhook = $1 AND dead RETURNING number;

-- name: count_notices
SELECT count(*) FILTER (WHERE NOT dead) AS waiting, count(*) FILTER (WHERE dead) AS dead
FROM affinity.notices;

-- name: next_webhook
SELECT w.id, w.url, w.secret FROM affinity.webhooks AS w
WHERE affinity.is_past(w.retry_at, clock_timestamp(), w.pause) AND w.removed_at IS NULL
  AND EXISTS (SELECT FROM affinity.notices AS n WHERE n.webhook = w.id AND NOT n.dead)
-- NO KEY: notices that are written meanwhile refer to the row, and must not wait for a receiver.
ORDER BY w.retry_at LIMIT 1 FOR NO KEY UPDATE OF w SKIP LOCKED;

-- name: next_notice
SELECT number, body, tries, extract(epoch FROM clock_timestamp() - created_at)::float8 AS seconds
FROM affinity.notices WHERE webhook = $1 AND NOT dead ORDER BY number LIMIT 1;

-- name: delivered
DELETE FROM affinity.notices WHERE number = $1;

-- name: webhook_works
UPDATE affinity.webhooks SET retry_at = clock_timestamp(), pause = 0, last_failure = NULL
WHERE id = $1;

-- name: not_delivered
UPDATE affinity.notices SET tries = $2, dead = $3 WHERE number = $1;

-- name: put_off_webhook
UPDATE affinity.webhooks SET retry_at = clock_timestamp() + make_interval(secs => $2),
  pause = $2, last_failure = $3 WHERE id = $1;

-- name: forget_dead
DELETE FROM affinity.notices WHERE dead AND created_at < clock_timestamp() - make_interval(days => $1);
