-- name: ask
SELECT * FROM affinity.ask($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: tell
SELECT * FROM affinity.tell($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- name: create_campaign
INSERT INTO affinity.campaigns (id, tenant, name, arms, policy, horizon, lease_seconds, lowest,
  highest, saved, committee, tellers, created_at, created_by, key, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (tenant, key) DO NOTHING RETURNING id;

-- name: created_before
-- Locked, so that the commit of a repeat waits for a standby, as that of the first request did.
SELECT id, digest, created_by FROM affinity.campaigns WHERE tenant = $1 AND key = $2
FOR NO KEY UPDATE;

-- name: create_head
INSERT INTO affinity.heads (campaign, tenant, status, round, width, size, next_slot, answered,
  events, lease_seconds, lowest, highest, in_flight, nodes, awaits_judges, tellers, chain)
SELECT $1, $2, $3, 0, $4, $5, 0, 0, 1, $6, $7, $8, $9, $10, $11, $12, affinity.defined(c)
FROM affinity.campaigns AS c WHERE c.id = $1;

-- name: keys_of_tenant
SELECT id FROM affinity.api_keys
WHERE tenant = $1 AND id = ANY ($2) AND revoked_at IS NULL AND parent IS NULL;

-- name: add_event
SELECT affinity.add_event($1, $2, $3, $4, $5, $6, $7, $8);

-- name: add_request
INSERT INTO affinity.requests (campaign, key, event, actor) VALUES ($1, $2, $3, $4);

-- name: release_lease
UPDATE affinity.leases SET released = true, again = true
WHERE campaign = $1 AND lease = $2 AND actor = $3 AND NOT released
RETURNING affinity.slots_in(pending);

-- name: holder
SELECT actor FROM affinity.events WHERE campaign = $1 AND number = $2 AND kind IN ('ask', 'ask_block');

-- name: end_campaign
UPDATE affinity.heads SET status = $2, events = events + 1 WHERE campaign = $1;

-- name: arms_of_rounds
SELECT r.campaign, r.number, ARRAY(SELECT c.arms[a.arm + 1]
  FROM unnest(r.arms) WITH ORDINALITY AS a (arm, place) ORDER BY a.place) AS arms
FROM unnest($1::uuid[], $2::integer[]) AS w (campaign, number)
JOIN affinity.rounds AS r USING (campaign, number) JOIN affinity.campaigns AS c ON c.id = r.campaign;

-- name: campaigns
-- Whoever asks says which. What is only ever shown of a campaign is in the first event alone.
SELECT c.id, c.number, c.name, c.arms, c.policy::text, c.horizon, c.lease_seconds, c.lowest,
  c.highest, c.saved::text, c.created_at, h.status, h.round, h.next_slot AS handed_out,
  h.answered, h.in_flight, h.awaits_judges, c.committee, c.tellers, r.arms AS round_arms, r.repetitions,
  r.size, r.before, r.judges, r.outsiders, r.fewest_seats, n.round AS named_round,
  n.judges AS named_judges, n.outsiders AS named_outsiders, n.standing,
  coalesce(s.places, '{}') AS places, coalesce(s.answers, '{}') AS answers,
  ARRAY(SELECT unnest(d.dropped) FROM affinity.rounds AS d WHERE d.campaign = c.id) AS dropped,
  d.description,
  f.kind, f.reason, coalesce(f.since, clock_timestamp()) AS since, w.checked_at,
  (SELECT json_agg(g ORDER BY g.severity DESC, g.kind)::text FROM affinity.findings AS g
    WHERE g.campaign = c.id) AS findings
FROM affinity.campaigns AS c
JOIN affinity.heads AS h ON h.campaign = c.id
JOIN affinity.rounds AS r ON r.campaign = c.id AND r.number = h.round
CROSS JOIN LATERAL (
  SELECT e.detail -> 'description' AS description
  FROM affinity.events AS e WHERE e.campaign = c.id AND e.number = 1) AS d
LEFT JOIN affinity.due AS f ON f.campaign = c.id
LEFT JOIN affinity.health AS w ON w.campaign = c.id
LEFT JOIN affinity.named_judges AS n ON n.campaign = c.id
LEFT JOIN LATERAL (
  SELECT array_agg(place) AS places, array_agg(answers) AS answers FROM affinity.sums AS s WHERE s.campaign = c.id) AS s ON true

-- name: arms
SELECT arms FROM affinity.campaigns WHERE tenant = $1 AND id = $2;

-- name: page_of_rounds
SELECT r.number, r.arms, r.repetitions, r.size, r.before, r.opened_at, r.closed_at, r.counts,
  r.sums, r.dropped, r.judges, r.outsiders, r.fewest_seats
FROM affinity.rounds AS r JOIN affinity.campaigns AS c ON c.id = r.campaign
WHERE c.tenant = $1 AND c.id = $2 AND r.number > $3 AND r.closed_at IS NOT NULL
ORDER BY r.number LIMIT $4;

-- name: page_of_events
SELECT * FROM affinity.events WHERE campaign = $1 AND number > $2 ORDER BY number LIMIT $3;

-- name: answers_of_closed_rounds
SELECT r.campaign, a.arm, sum(a.n) AS n
FROM affinity.rounds AS r, unnest(r.arms, r.counts) AS a (arm, n)
WHERE r.campaign = ANY ($1) AND r.closed_at IS NOT NULL GROUP BY 1, 2;
