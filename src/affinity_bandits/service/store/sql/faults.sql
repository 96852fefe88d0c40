-- name: count_marks
SELECT count(*) FROM affinity.faults;

-- name: held
SELECT kind, reason FROM affinity.faults
WHERE campaign = $1 AND kind <> ALL ($3) AND retry_at > coalesce($2, clock_timestamp());

-- name: mark
INSERT INTO affinity.faults AS f (campaign, kind, reason, since, tries, retry_at)
SELECT $1, $2, $3, n, 1, n + make_interval(secs => $5) FROM coalesce($4, clock_timestamp()) AS n
ON CONFLICT (campaign) DO UPDATE SET kind = excluded.kind, reason = excluded.reason,
  tries = f.tries + 1, retry_at = coalesce($4, clock_timestamp())
    + make_interval(secs => least($6, $5 * 2 ^ least(f.tries, 20)))
RETURNING f.xmax = 0 AS new;

-- name: unmarked
-- Campaigns that `note` would mark, in the order of locks.
SELECT a.campaign FROM unnest($1::uuid[], $2::text[]) AS a (campaign, kind)
WHERE NOT EXISTS (SELECT FROM affinity.faults AS f WHERE f.campaign = a.campaign
  AND NOT (f.kind = ANY ($3) AND a.kind <> ALL ($3))) ORDER BY a.campaign;

-- name: note
-- A mark that is there stays as it is: readers must not put off the next try.
INSERT INTO affinity.faults AS f (campaign, kind, reason, since, tries, retry_at)
SELECT c, k, r, clock_timestamp(), 0, clock_timestamp() + make_interval(secs => p)
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::float8[]) AS a (c, k, r, p)
ON CONFLICT (campaign) DO UPDATE SET kind = excluded.kind, reason = excluded.reason,
  retry_at = excluded.retry_at WHERE f.kind = ANY ($5) AND excluded.kind <> ALL ($5)
RETURNING campaign;

-- name: forget
DELETE FROM affinity.faults WHERE campaign = $1;

-- name: examine
SELECT h.status, h.width, h.nodes, h.lowest, h.highest, c.policy::text, c.saved::text
FROM affinity.heads AS h JOIN affinity.campaigns AS c ON c.id = h.campaign WHERE h.campaign = $1;
