-- name: stored_head
SELECT h.*, c.saved, c.committee
FROM affinity.heads AS h JOIN affinity.campaigns AS c ON c.id = h.campaign
WHERE h.campaign = $1;

-- name: stored_events
SELECT * FROM affinity.events WHERE campaign = $1 ORDER BY number;

-- name: stored_sums
SELECT place, answers, total, tallies FROM affinity.sums WHERE campaign = $1 ORDER BY place;

-- name: stored_leases
SELECT lease, pending FROM affinity.leases WHERE campaign = $1 ORDER BY lease;

-- name: stored_rounds
SELECT number, arms, counts, sums, dropped, before, judges, outsiders, fewest_seats
FROM affinity.rounds WHERE campaign = $1 AND closed_at IS NOT NULL ORDER BY number;

-- name: stored_round
SELECT arms, repetitions, size, before, judges, outsiders, fewest_seats
FROM affinity.rounds WHERE campaign = $1 AND number = $2;
