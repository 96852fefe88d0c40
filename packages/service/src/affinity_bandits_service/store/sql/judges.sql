-- name: head_of_tenant
SELECT status, round, size, answered, events, awaits_judges FROM affinity.heads
WHERE campaign = $1 AND tenant = $2 FOR UPDATE;

-- name: event_of_request
SELECT e.kind, e.detail, q.event FROM affinity.requests AS q
JOIN affinity.events AS e ON e.campaign = q.campaign AND e.number = q.event
WHERE q.campaign = $1 AND q.key = $2 AND q.actor = $3;

-- name: named_judges
SELECT event, round, judges, outsiders, standing FROM affinity.named_judges WHERE campaign = $1;

-- name: name_judges
INSERT INTO affinity.named_judges (campaign, event, round, judges, outsiders, standing)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (campaign) DO UPDATE SET event = excluded.event, round = excluded.round,
  judges = excluded.judges, outsiders = excluded.outsiders, standing = excluded.standing;

-- name: forget_judges
DELETE FROM affinity.named_judges WHERE campaign = $1;

-- name: count_event
UPDATE affinity.heads SET events = events + 1 WHERE campaign = $1;

-- name: open_judged_round
UPDATE affinity.rounds SET arms = $3, repetitions = $4, size = $5, judges = $6, outsiders = $7,
  opened_at = coalesce($8, clock_timestamp()) WHERE campaign = $1 AND number = $2;

-- name: open_judged_head
-- Says whether the campaign is decided by it.
UPDATE affinity.heads AS h SET status = CASE WHEN $2 AND h.status = 'open' THEN 'decided'
    ELSE h.status END,
  width = $3, size = $4, events = h.events + 1, awaits_judges = false
FROM affinity.heads AS o WHERE h.campaign = $1 AND o.campaign = h.campaign
RETURNING h.status = 'decided' AND o.status = 'open';

-- name: judges_wanted
SELECT c.arms, c.policy::text, r.fewest_seats,
  EXISTS (SELECT FROM affinity.named_judges AS n WHERE n.campaign = c.id) AS named
FROM affinity.campaigns AS c JOIN affinity.rounds AS r ON r.campaign = c.id
WHERE c.id = $1 AND r.number = $2;
