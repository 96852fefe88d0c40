-- name: head_to_close
SELECT status, round, size, answered, events, nodes, awaits_judges
FROM affinity.heads WHERE campaign = $1 FOR UPDATE;

-- name: no_longer_due
DELETE FROM affinity.due WHERE campaign = $1;

-- name: count_due
SELECT count(*) AS due, count(kind) AS faults,
  pg_stat_get_dead_tuples('affinity.heads'::regclass) AS dead_rows FROM affinity.due;

-- name: campaign_to_close
SELECT cardinality(arms) AS arms, policy::text, lowest, highest, saved::text
FROM affinity.campaigns WHERE id = $1;

-- name: take_sums
DELETE FROM affinity.sums WHERE campaign = $1 RETURNING place, answers, total, tallies;

-- name: take_lapses
DELETE FROM affinity.lapses WHERE campaign = $1 RETURNING round, place, slots;

-- name: time_of
SELECT coalesce($1::timestamptz, clock_timestamp());

-- name: close_round
UPDATE affinity.rounds SET closed_at = $3, counts = $4, sums = $5, dropped = $6,
  lapsed = $7
WHERE campaign = $1 AND number = $2;

-- name: save_state
UPDATE affinity.campaigns SET saved = $2 WHERE id = $1;

-- name: open_round
INSERT INTO affinity.rounds (campaign, number, arms, repetitions, size, before, opened_at,
  fewest_seats)
VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, clock_timestamp()), $8);

-- name: next_round
UPDATE affinity.heads SET status = CASE WHEN status = 'stopped' THEN status
    WHEN $2 THEN 'decided' ELSE 'open' END, round = round + 1, width = $3, size = $4,
  next_slot = 0, oldest = 0, answered = 0, events = events + 1, awaits_judges = $5
WHERE campaign = $1;

-- name: next_due
-- An array, not a join, which the planner may answer by reading all heads. Rounds that failed before
-- come last.
SELECT campaign FROM affinity.heads WHERE campaign = ANY (ARRAY(
  SELECT campaign FROM affinity.due
  WHERE retry_at IS NULL OR affinity.is_past(retry_at, coalesce($1, clock_timestamp()), $2)
  ORDER BY retry_at NULLS FIRST LIMIT 20))
LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: held_fault
SELECT d.kind, d.reason FROM affinity.heads AS h LEFT JOIN affinity.due AS d
  ON d.campaign = h.campaign AND NOT affinity.is_past(d.retry_at, coalesce($2, clock_timestamp()), $3)
WHERE h.campaign = $1 FOR UPDATE OF h;

-- name: mark_fault
-- Says whether the fault is new.
UPDATE affinity.due AS d SET kind = $2, reason = $3, since = coalesce(d.since, n.now),
  retry_at = n.now + make_interval(secs => $5)
FROM (SELECT coalesce($4, clock_timestamp()) AS now) AS n WHERE d.campaign = $1
RETURNING d.since = n.now;
