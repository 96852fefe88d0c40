-- name: stored_head
SELECT h.*, c.saved FROM affinity.heads AS h
JOIN affinity.campaigns AS c ON c.id = h.campaign WHERE h.campaign = $1;

-- name: stored_definition
-- As text whatever a driver could read in more than one way.
SELECT *, policy::text AS policy_text, committee::text AS committee_text
FROM affinity.campaigns WHERE id = $1;

-- name: stored_events
SELECT *, slots::text AS slots_text, told::text AS told_text, counts::text AS counts_text,
  units::text AS units_text, detail::text AS detail_text,
  (SELECT min(r.event) FROM affinity.requests AS r
    WHERE r.campaign = $1 AND r.key = e.key AND r.actor = e.actor) AS answered_by
FROM affinity.page($1, $2, $3) AS e ORDER BY number;

-- name: count_requests
SELECT count(*) FROM affinity.requests WHERE campaign = $1;

-- name: newest_digest
SELECT e.number, e.chain FROM affinity.heads AS h
JOIN affinity.events AS e ON e.campaign = h.campaign AND e.number = h.events
WHERE h.campaign = $1;

-- name: stored_sums
SELECT place, answers, total, tallies FROM affinity.sums WHERE campaign = $1 ORDER BY place;

-- name: stored_lapses
SELECT place, slots FROM affinity.lapses WHERE campaign = $1 AND round = $2 ORDER BY place;

-- name: stored_raters
SELECT rater, scores, first, place FROM affinity.raters WHERE campaign = $1 ORDER BY first, place;

-- name: stored_leases
SELECT lease, pending, round, expires_at, again, actor, released FROM affinity.leases WHERE campaign = $1 ORDER BY lease;

-- name: stored_rounds
SELECT number, arms, repetitions, size, counts, sums, dropped, before, lapsed, judges, outsiders,
  fewest_seats, opened_at, closed_at
FROM affinity.rounds WHERE campaign = $1 AND closed_at IS NOT NULL ORDER BY number;

-- name: stored_round
SELECT arms, repetitions, size, before, judges, outsiders, fewest_seats, opened_at
FROM affinity.rounds WHERE campaign = $1 AND number = $2;

-- name: campaign_to_export
SELECT c.arms, c.committee, (SELECT coalesce(max(e.number), 0) FROM affinity.events AS e
  WHERE e.campaign = c.id) AS events FROM affinity.campaigns AS c WHERE c.id = $1;

-- name: events_to_export
-- OFFSET 0: so each lease is looked up by its number, and none before its tell is read. Its campaign is
-- known before the plan is made, which leaves one partition of sixteen.
SELECT e.kind, e.number, e.at, e.round, e.lease, e.told, e.counts, e.units, e.counted, e.late,
  e.detail, e.chain, a.round AS leased_in, coalesce(e.slots, a.slots) AS slots,
  b.round AS given_in, b.detail AS given
FROM affinity.page($1, $2, $3) AS e
LEFT JOIN LATERAL (
  SELECT l.round, CASE WHEN e.counts IS NOT NULL THEN l.slots END AS slots
  FROM affinity.events AS l
  WHERE l.campaign = $1 AND l.number = e.lease AND l.kind = 'ask' OFFSET 0) AS a ON true
LEFT JOIN LATERAL (
  SELECT g.round, g.detail FROM affinity.events AS g
  WHERE g.campaign = $1 AND g.kind = 'ask_block' AND e.kind = 'tell_block'
    AND g.number = (e.detail ->> 'lease')::bigint OFFSET 0) AS b ON true
ORDER BY e.number;
