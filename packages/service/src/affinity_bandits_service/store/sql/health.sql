-- name: watch
INSERT INTO affinity.health (campaign, due_at)
VALUES ($1, coalesce($2, clock_timestamp()) + make_interval(secs => $3));

-- name: next_to_check
-- Whoever takes it puts off the next look, so that one process looks and a failure is no hurry. What
-- is due in more than twice the time was put off before the clock was set back. Two subqueries, each
-- of which reads one end of the index.
UPDATE affinity.health SET due_at = coalesce($1, clock_timestamp()) + make_interval(secs => $2)
WHERE campaign = coalesce(
  (SELECT campaign FROM affinity.health WHERE due_at <= (SELECT coalesce($1, clock_timestamp()))
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED),
  (SELECT campaign FROM affinity.health
    WHERE due_at > (SELECT coalesce($1, clock_timestamp()) + make_interval(secs => 2 * $2))
    ORDER BY due_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED))
RETURNING campaign;

-- name: campaign_to_check
SELECT c.arms, c.created_at, c.lowest, c.highest, c.lease_seconds, h.status, h.round, h.width,
  h.size, h.next_slot, h.answered, h.events, r.arms AS round_arms, r.before, r.judges, c.policy::text,
  w.checked_at, w.answers, w.silent, w.longest,
  ARRAY(SELECT unnest(d.dropped) FROM affinity.rounds AS d WHERE d.campaign = c.id) AS dropped,
  coalesce($2, clock_timestamp()) AS now
FROM affinity.campaigns AS c
JOIN affinity.heads AS h ON h.campaign = c.id
JOIN affinity.rounds AS r ON r.campaign = c.id AND r.number = h.round
JOIN affinity.health AS w ON w.campaign = c.id
WHERE c.id = $1;

-- name: rounds_to_check
SELECT number, arms, size, counts, sums, lapsed, judges, dropped FROM affinity.rounds
WHERE campaign = $1 AND closed_at IS NOT NULL ORDER BY number DESC LIMIT $2;

-- name: owed_by_expired
-- Runs of slots; the oldest leases first, so that what a limit leaves out is at the end.
SELECT lower(run) AS first, upper(run) AS beyond
FROM (SELECT pending FROM affinity.leases
  WHERE campaign = $1 AND affinity.is_past(expires_at, $2, $4) AND NOT again ORDER BY lease LIMIT $3) AS l,
  unnest(l.pending) AS run;

-- name: last_events
SELECT at, split_part(kind, '_', 1) AS kind,   -- of slots or of blocks
  CASE kind WHEN 'tell_block' THEN (detail ->> 'counted')::bigint ELSE counted END AS counted
FROM affinity.events
WHERE campaign = $1 AND number > $2 ORDER BY number;

-- name: busiest_rater
SELECT b.rater, b.scores, t.total, (SELECT count(*) FROM affinity.raters AS o
  WHERE o.campaign = $1 AND (o.first, o.place) <= (b.first, b.place)) AS place
FROM (SELECT * FROM affinity.raters WHERE campaign = $1 ORDER BY scores DESC LIMIT 1) AS b,
  (SELECT sum(scores)::bigint AS total FROM affinity.raters WHERE campaign = $1) AS t
WHERE b.scores > $2 * t.total;

-- name: save_look
UPDATE affinity.health SET checked_at = $2, answers = $3, silent = $4, longest = $5,
  due_at = CASE WHEN $6 THEN NULL ELSE due_at END WHERE campaign = $1;

-- name: save_finding
INSERT INTO affinity.findings AS f
  (campaign, kind, severity, since, arms, seen, effect, advice)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (campaign, kind) DO UPDATE SET severity = excluded.severity, arms = excluded.arms,
  seen = excluded.seen, effect = excluded.effect, advice = excluded.advice
RETURNING f.xmax = 0 AS new;

-- name: forget_findings
DELETE FROM affinity.findings WHERE campaign = $1 AND kind <> ALL ($2);

-- name: count_findings
SELECT f.kind, f.severity, count(*) AS campaigns
FROM affinity.findings AS f JOIN affinity.health AS w ON w.campaign = f.campaign
WHERE w.due_at IS NOT NULL GROUP BY 1, 2;
