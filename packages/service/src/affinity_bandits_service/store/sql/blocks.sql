-- name: head_of_blocks
SELECT status, round, size, next_slot, answered, events, lease_seconds, lowest, highest, tellers
FROM affinity.heads WHERE campaign = $1 AND tenant = $2 FOR UPDATE;

-- name: round_of_blocks
SELECT arms, policy::text, saved::text FROM affinity.campaigns WHERE id = $1;

-- name: block_to_give
-- The newest block of a kind that was given; the oldest one to be given again, those that were given
-- back first; and when the first one ends that is still owed.
SELECT n.newest, a.block AS again, a.lease, e.first_end
FROM (SELECT max(b.block) AS newest FROM affinity.blocks AS b
  WHERE b.campaign = $1 AND b.round = $2 AND b.kind = $3) AS n
LEFT JOIN LATERAL (SELECT b.block, b.lease FROM affinity.blocks AS b
  WHERE b.campaign = $1 AND b.round = $2 AND b.kind = $3 AND b.owed
    AND (b.released OR affinity.is_past(b.expires_at, $4, $5))
  ORDER BY NOT b.released, b.lease LIMIT 1) AS a ON true
LEFT JOIN LATERAL (SELECT min(b.expires_at) AS first_end FROM affinity.blocks AS b
  WHERE b.campaign = $1 AND b.round = $2 AND b.kind = $3 AND b.owed) AS e ON true;

-- name: replace_block
UPDATE affinity.blocks SET owed = false WHERE campaign = $1 AND lease = $2;

-- name: give_block
INSERT INTO affinity.blocks (campaign, lease, round, block, kind, arms, rater, expires_at, actor)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: given_block
SELECT lease, round, kind, arms, rater, expires_at FROM affinity.blocks
WHERE campaign = $1 AND lease = $2;

-- name: kind_of_rater
SELECT kind FROM affinity.blocks WHERE campaign = $1 AND rater = $2 ORDER BY lease LIMIT 1;

-- name: count_given
UPDATE affinity.heads SET next_slot = next_slot + $2, events = events + 1 WHERE campaign = $1;

-- name: block_to_take
SELECT round, arms, rater, actor, units, counted,
  owed AND NOT released AND NOT affinity.is_past(expires_at, $3, $4) AS in_time
FROM affinity.blocks WHERE campaign = $1 AND lease = $2;

-- name: answer_block
UPDATE affinity.blocks SET units = $3, counted = $4, owed = owed AND NOT $4
WHERE campaign = $1 AND lease = $2;

-- name: add_block_scores
INSERT INTO affinity.sums AS s (campaign, place, answers, total)
SELECT $1, array_position(r.arms, a.arm) - 1, 1, a.units
FROM affinity.rounds AS r, unnest($3::integer[], $4::bigint[]) AS a (arm, units)
WHERE r.campaign = $1 AND r.number = $2 ORDER BY 2
ON CONFLICT (campaign, place) DO UPDATE
  SET answers = s.answers + excluded.answers, total = s.total + excluded.total;

-- name: count_block_rater
SELECT affinity.count_raters($1, $2, $3);

-- name: count_answered
-- A round with all its scores is to be closed.
WITH h AS (
  UPDATE affinity.heads SET answered = answered + $2, events = events + 1,
    bytes = bytes + octet_length($3::json::text) WHERE campaign = $1
  RETURNING campaign, status, answered, size)
INSERT INTO affinity.due (campaign) SELECT campaign FROM h
WHERE answered = size AND status <> 'exhausted' ON CONFLICT DO NOTHING;

-- name: release_block
UPDATE affinity.blocks SET released = true
WHERE campaign = $1 AND lease = $2 AND actor = $3 AND owed AND NOT released
RETURNING cardinality(arms);

-- name: scored_blocks
SELECT block, arms, units FROM affinity.blocks
WHERE campaign = $1 AND round = $2 AND counted ORDER BY block;

-- name: lead_in_blocks
-- In how many blocks of closed rounds a group met each other one, and by how much it was ahead.
SELECT other.arm, count(*) AS blocks, sum(own.units - other.units) AS units
FROM affinity.blocks AS b
CROSS JOIN LATERAL unnest(b.arms, b.units) AS own (arm, units)
CROSS JOIN LATERAL unnest(b.arms, b.units) AS other (arm, units)
WHERE b.campaign = $1 AND b.counted AND b.round < $2 AND own.arm = $3 AND other.arm <> $3
GROUP BY other.arm;

-- name: blocks_by_kind
SELECT kind, count(DISTINCT block) AS given, count(*) FILTER (WHERE counted) AS answered,
  count(*) FILTER (WHERE owed AND NOT released AND expires_at > clock_timestamp()) AS open
FROM affinity.blocks WHERE campaign = $1 AND round = $2 GROUP BY kind;

-- name: stored_blocks
SELECT lease, round, block, kind, arms, rater, actor, expires_at, released, owed, units, counted
FROM affinity.blocks WHERE campaign = $1 ORDER BY lease;
