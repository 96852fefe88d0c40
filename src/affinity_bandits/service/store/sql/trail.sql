-- name: stored_head
SELECT h.*, c.saved, c.committee, r.lapsed IS NOT NULL AS lapses_known FROM affinity.heads AS h
JOIN affinity.campaigns AS c ON c.id = h.campaign
JOIN affinity.rounds AS r ON r.campaign = h.campaign AND r.number = h.round
WHERE h.campaign = $1;

-- name: stored_events
SELECT * FROM affinity.events WHERE campaign = $1 ORDER BY number;

-- name: stored_sums
SELECT place, answers, total, tallies FROM affinity.sums WHERE campaign = $1 ORDER BY place;

-- name: stored_lapses
SELECT place, slots FROM affinity.lapses WHERE campaign = $1 AND round = $2 ORDER BY place;

-- name: stored_raters
SELECT rater, scores, first, place FROM affinity.raters WHERE campaign = $1 ORDER BY first, place;

-- name: stored_leases
SELECT lease, pending FROM affinity.leases WHERE campaign = $1 ORDER BY lease;

-- name: stored_rounds
SELECT number, arms, counts, sums, dropped, before, lapsed, judges, outsiders, fewest_seats
FROM affinity.rounds WHERE campaign = $1 AND closed_at IS NOT NULL ORDER BY number;

-- name: stored_round
SELECT arms, repetitions, size, before, judges, outsiders, fewest_seats
FROM affinity.rounds WHERE campaign = $1 AND number = $2;
