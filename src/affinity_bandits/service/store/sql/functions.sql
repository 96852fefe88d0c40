-- The two calls of the hot path. Each takes a batch for one campaign, so that a batch costs one
-- lock, one round trip and one commit. Each statement in a function sees what was committed
-- before it, so the key is looked up under the lock: a repeat that waited finds the first one.
-- Their plans are made once a connection, perhaps for empty tables, so reading whole tables is off.

-- Slot s goes out only once every slot up to s - in_flight has its answer. A round of one arm has no
-- order: its slots are all alike.
CREATE OR REPLACE FUNCTION affinity.ask(
  p_tenant bigint, p_campaign uuid, p_now timestamptz,
  p_actors text[], p_keys text[], p_counts integer[]
) RETURNS TABLE (
  outcome text, lease bigint, round integer, slots int8multirange,
  expires_at timestamptz, outstanding bigint, retry_after double precision
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_head affinity.heads;
  v_before bigint;
  v_event affinity.events;
  v_lease affinity.leases;
  v_now timestamptz;
  v_first bigint;
  v_limit bigint;   -- the first slot that may not be handed out yet
  v_looked boolean := false;
  v_part int8multirange;
  v_again boolean;
  v_lapsed int8multirange;   -- slots that are offered for the second time
BEGIN
  SELECT * INTO v_head FROM affinity.heads AS h
    WHERE h.campaign = p_campaign AND h.tenant = p_tenant FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  v_now := coalesce(p_now, clock_timestamp());
  v_first := v_head.events;
  FOR i IN 1 .. cardinality(p_keys) LOOP
    lease := NULL; round := v_head.round; slots := NULL; expires_at := NULL;
    outstanding := NULL; retry_after := NULL; v_again := false;
    SELECT q.event INTO v_before FROM affinity.requests AS q
      WHERE q.campaign = p_campaign AND q.key = p_keys[i];
    IF FOUND THEN
      SELECT * INTO v_event FROM affinity.events AS e
        WHERE e.campaign = p_campaign AND e.number = v_before;
      IF v_event.kind = 'ask' AND v_event.asked = p_counts[i] THEN
        outcome := 'leased'; lease := v_event.number; round := v_event.round;
        slots := v_event.slots; expires_at := v_event.expires_at;
      ELSE
        outcome := 'key_reused';
      END IF;
      RETURN NEXT; CONTINUE;
    END IF;
    IF v_head.status IN ('exhausted', 'stopped') THEN
      outcome := v_head.status; RETURN NEXT; CONTINUE;
    END IF;
    IF v_head.awaits_judges THEN
      outcome := 'awaits_judges'; RETURN NEXT; CONTINUE;
    END IF;
    IF v_head.answered = v_head.size THEN
      outcome := 'closing'; RETURN NEXT; CONTINUE;
    END IF;
    v_limit := v_head.size;
    IF v_head.in_flight IS NOT NULL AND v_head.width > 1 THEN
      IF NOT v_looked AND v_head.next_slot + p_counts[i] > v_head.oldest + v_head.in_flight THEN
        SELECT coalesce(min(lower(l.pending)), v_head.next_slot) INTO v_head.oldest
          FROM affinity.leases AS l WHERE l.campaign = p_campaign;
        v_looked := true;   -- no answer comes in between, so this holds for the rest of the batch
      END IF;
      v_limit := least(v_limit, v_head.oldest + v_head.in_flight);
    END IF;
    IF v_head.next_slot < v_limit THEN
      slots := int8multirange(int8range(
        v_head.next_slot, v_head.next_slot + least(p_counts[i], v_limit - v_head.next_slot)));
      v_head.next_slot := v_head.next_slot + least(p_counts[i], v_limit - v_head.next_slot);
    ELSE
      -- Nothing that nobody has had may go out: offer again what expired leases still owe.
      v_again := true;
      slots := '{}';
      v_lapsed := '{}';
      FOR v_lease IN SELECT * FROM affinity.leases AS l
          WHERE l.campaign = p_campaign ORDER BY l.lease LOOP
        EXIT WHEN v_lease.expires_at > v_now;
        v_part := affinity.first_slots(v_lease.pending, p_counts[i] - affinity.slots_in(slots));
        slots := slots + v_part;
        IF NOT v_lease.again THEN
          v_lapsed := v_lapsed + v_part;
        END IF;
        IF v_part = v_lease.pending THEN
          DELETE FROM affinity.leases AS l
            WHERE l.campaign = p_campaign AND l.lease = v_lease.lease;
        ELSE
          UPDATE affinity.leases AS l SET pending = l.pending - v_part
            WHERE l.campaign = p_campaign AND l.lease = v_lease.lease;
        END IF;
        EXIT WHEN affinity.slots_in(slots) >= p_counts[i];
      END LOOP;
      IF isempty(slots) THEN
        outcome := 'wait'; slots := NULL;
        outstanding := v_head.next_slot - v_head.answered;
        SELECT greatest(0, extract(epoch FROM l.expires_at - v_now)) INTO retry_after
          FROM affinity.leases AS l WHERE l.campaign = p_campaign ORDER BY l.lease LIMIT 1;
        RETURN NEXT; CONTINUE;
      END IF;
      IF NOT isempty(v_lapsed) THEN
        PERFORM affinity.count_lapses(v_head, v_lapsed);
      END IF;
    END IF;
    v_head.events := v_head.events + 1;
    outcome := 'leased'; lease := v_head.events;
    expires_at := v_now + make_interval(secs => v_head.lease_seconds);
    INSERT INTO affinity.leases (campaign, lease, round, pending, expires_at, again)
      VALUES (p_campaign, lease, v_head.round, slots, expires_at, v_again);
    INSERT INTO affinity.events
        (campaign, number, at, kind, actor, key, round, asked, slots, expires_at)
      VALUES (p_campaign, lease, v_now, 'ask', p_actors[i], p_keys[i], v_head.round,
        p_counts[i], slots, expires_at);
    INSERT INTO affinity.requests (campaign, key, event) VALUES (p_campaign, p_keys[i], lease);
    RETURN NEXT;
  END LOOP;
  IF v_head.events > v_first THEN
    UPDATE affinity.heads AS h
      SET next_slot = v_head.next_slot, events = v_head.events, oldest = v_head.oldest
      WHERE h.campaign = p_campaign;
  END IF;
END $$;

-- Item i of the batch has p_lengths[i] entries in p_told and p_units: slots and their scores. Where
-- p_forms[i] is not 'answers', they are arms and sums, with p_counts the numbers of answers: one sum
-- an arm if it is 'totals', one for each score of an arm if it is 'scores'. p_details[i] says who
-- rated; without any, p_details is left out.
CREATE OR REPLACE FUNCTION affinity.tell(
  p_tenant bigint, p_campaign uuid, p_now timestamptz,
  p_actors text[], p_keys text[], p_digests bytea[], p_leases bigint[], p_forms text[],
  p_lengths integer[], p_told bigint[], p_counts bigint[], p_units bigint[],
  p_details text[] DEFAULT NULL
) RETURNS TABLE (
  outcome text, counted bigint, late bigint, duplicate bigint, complete boolean
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_head affinity.heads;
  v_before bigint;
  v_event affinity.events;
  v_ask affinity.events;
  v_lease affinity.leases;
  v_now timestamptz;
  v_first bigint;
  v_from integer := 0;
  v_told bigint[];
  v_counts bigint[];
  v_units bigint[];
  v_answers bigint;   -- how many were told
  v_slots int8multirange;   -- for which slots
  v_new int8multirange;   -- which of them had no answer yet
  v_part int8multirange;
  v_first_lease boolean;
  v_lapsed int8multirange;   -- slots that are answered after their first lease expired, if any
  v_range bigint;   -- of the range of scores
  -- What the batch adds to the sums: a slot or a place, a number of answers, their sum.
  v_add_slots bigint[] := '{}';
  v_add_counts bigint[] := '{}';
  v_add_units bigint[] := '{}';
BEGIN
  SELECT * INTO v_head FROM affinity.heads AS h
    WHERE h.campaign = p_campaign AND h.tenant = p_tenant FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  v_now := coalesce(p_now, clock_timestamp());
  v_first := v_head.events;
  FOR i IN 1 .. cardinality(p_keys) LOOP
    v_told := p_told[v_from + 1 : v_from + p_lengths[i]];
    v_counts := CASE WHEN p_forms[i] <> 'answers'
      THEN p_counts[v_from + 1 : v_from + p_lengths[i]] END;
    v_units := p_units[v_from + 1 : v_from + p_lengths[i]];
    v_from := v_from + p_lengths[i];
    counted := NULL; late := NULL; duplicate := NULL; complete := false;

    SELECT q.event INTO v_before FROM affinity.requests AS q
      WHERE q.campaign = p_campaign AND q.key = p_keys[i];
    IF FOUND THEN
      SELECT * INTO v_event FROM affinity.events AS e
        WHERE e.campaign = p_campaign AND e.number = v_before;
      IF v_event.kind = 'tell' AND v_event.digest = p_digests[i] THEN
        outcome := 'told'; counted := v_event.counted; late := v_event.late;
        duplicate := v_event.duplicate;
      ELSE
        outcome := 'key_reused';
      END IF;
      RETURN NEXT; CONTINUE;
    END IF;
    SELECT * INTO v_ask FROM affinity.events AS e
      WHERE e.campaign = p_campaign AND e.number = p_leases[i] AND e.kind = 'ask';
    IF NOT FOUND THEN
      outcome := 'no_lease'; RETURN NEXT; CONTINUE;
    END IF;

    IF v_counts IS NOT NULL THEN
      IF v_head.nodes > 0 AND p_forms[i] <> 'scores' THEN
        outcome := 'scores_needed'; RETURN NEXT; CONTINUE;
      END IF;
      IF EXISTS (SELECT FROM unnest(v_counts, v_units) AS t (n, u)
                 WHERE u::numeric < n::numeric * v_head.lowest
                    OR u::numeric > n::numeric * v_head.highest) THEN
        outcome := 'score_out_of_range'; RETURN NEXT; CONTINUE;
      END IF;
      -- The lowest slots of each arm are taken as the answered ones.
      SELECT coalesce(range_agg(int8range(s.slot, s.slot + 1)), '{}') INTO v_slots
        FROM (SELECT g.slot,
                row_number() OVER (PARTITION BY g.slot % cardinality(r.arms) ORDER BY g.slot) AS nth,
                r.arms[g.slot % cardinality(r.arms) + 1] AS arm
              FROM affinity.rounds AS r, unnest(v_ask.slots) AS run,
                generate_series(lower(run), upper(run) - 1) AS g (slot)
              WHERE r.campaign = p_campaign AND r.number = v_ask.round) AS s
        JOIN (SELECT o.arm, sum(o.n) AS n FROM unnest(v_told, v_counts) AS o (arm, n)
              GROUP BY o.arm) AS t ON t.arm = s.arm
        WHERE s.nth <= t.n;
      SELECT coalesce(sum(n), 0) INTO v_answers FROM unnest(v_counts) AS n;
      IF affinity.slots_in(v_slots) <> v_answers THEN
        outcome := 'slot_not_leased'; RETURN NEXT; CONTINUE;
      END IF;
    ELSE
      IF EXISTS (SELECT FROM unnest(v_units) AS u
                 WHERE u < v_head.lowest OR u > v_head.highest) THEN
        outcome := 'score_out_of_range'; RETURN NEXT; CONTINUE;
      END IF;
      v_answers := p_lengths[i];
      IF v_answers = 1 THEN
        v_slots := int8multirange(int8range(v_told[1], v_told[1] + 1));
      ELSE
        SELECT range_agg(int8range(s, s + 1)) INTO v_slots FROM unnest(v_told) AS s;
      END IF;
      IF NOT v_slots <@ v_ask.slots THEN
        outcome := 'slot_not_leased'; RETURN NEXT; CONTINUE;
      END IF;
    END IF;

    v_new := '{}';
    IF v_ask.round = v_head.round THEN
      v_first_lease := false;
      IF v_ask.expires_at <= v_now THEN
        SELECT NOT l.again INTO v_first_lease FROM affinity.leases AS l
          WHERE l.campaign = p_campaign AND l.lease = p_leases[i];
      END IF;
      -- Most tells answer all that a lease owes.
      DELETE FROM affinity.leases AS l WHERE l.campaign = p_campaign AND l.lease = p_leases[i]
        AND l.pending = v_slots AND (v_counts IS NULL OR v_slots = v_ask.slots);
      IF FOUND THEN
        v_new := v_slots;
        IF v_first_lease THEN
          v_lapsed := coalesce(v_lapsed, '{}') + v_new;
        END IF;
      END IF;
    END IF;
    IF v_ask.round = v_head.round AND isempty(v_new) THEN
      SELECT * INTO v_lease FROM affinity.leases AS l
        WHERE l.campaign = p_campaign AND l.lease = p_leases[i];
      IF v_counts IS NOT NULL THEN
        -- A sum cannot be taken apart: it counts whole or not at all.
        IF FOUND AND v_lease.pending = v_ask.slots THEN
          v_new := v_slots;
        END IF;
      ELSIF FOUND THEN
        v_new := v_slots * v_lease.pending;
      END IF;
      IF NOT isempty(v_new) THEN
        IF v_first_lease THEN
          v_lapsed := coalesce(v_lapsed, '{}') + v_new;
        END IF;
        IF v_new = v_lease.pending THEN
          DELETE FROM affinity.leases AS l
            WHERE l.campaign = p_campaign AND l.lease = p_leases[i];
        ELSE
          UPDATE affinity.leases AS l SET pending = l.pending - v_new
            WHERE l.campaign = p_campaign AND l.lease = p_leases[i];
        END IF;
      END IF;
      IF v_counts IS NULL AND v_new <> v_slots THEN
        -- Some slots were offered again; whoever has them now has not answered yet.
        FOR v_lease IN SELECT * FROM affinity.leases AS l
            WHERE l.campaign = p_campaign AND l.lease > p_leases[i]
              AND l.pending && (v_slots - v_new) LOOP
          v_part := v_lease.pending * (v_slots - v_new);
          v_new := v_new + v_part;
          IF v_part = v_lease.pending THEN
            DELETE FROM affinity.leases AS l
              WHERE l.campaign = p_campaign AND l.lease = v_lease.lease;
          ELSE
            UPDATE affinity.leases AS l SET pending = l.pending - v_part
              WHERE l.campaign = p_campaign AND l.lease = v_lease.lease;
          END IF;
        END LOOP;
      END IF;
    END IF;

    IF isempty(v_new) THEN
      counted := 0;
    ELSIF v_counts IS NOT NULL THEN
      counted := v_answers;
      SELECT v_add_slots || array_agg(array_position(r.arms, a.arm::integer) - 1),
          v_add_counts || array_agg(a.n), v_add_units || array_agg(a.u)
        INTO v_add_slots, v_add_counts, v_add_units
        FROM affinity.rounds AS r, unnest(v_told, v_counts, v_units) AS a (arm, n, u)
        WHERE r.campaign = p_campaign AND r.number = v_head.round AND a.n > 0;
    ELSIF v_new = v_slots THEN
      counted := v_answers;
      v_add_slots := v_add_slots || v_told;
      v_add_counts := v_add_counts || array_fill(1::bigint, ARRAY[p_lengths[i]]);
      v_add_units := v_add_units || v_units;
    ELSE
      counted := affinity.slots_in(v_new);
      SELECT v_add_slots || array_agg(a.slot), v_add_counts || array_agg(1::bigint),
          v_add_units || array_agg(a.u)
        INTO v_add_slots, v_add_counts, v_add_units
        FROM unnest(v_told, v_units) AS a (slot, u) WHERE v_new @> a.slot;
    END IF;
    late := 0; duplicate := 0;
    IF v_ask.round <> v_head.round OR v_ask.expires_at <= v_now THEN
      late := v_answers - counted;
    ELSE
      duplicate := v_answers - counted;
    END IF;
    v_head.events := v_head.events + 1;
    v_head.answered := v_head.answered + counted;
    INSERT INTO affinity.events
        (campaign, number, at, kind, actor, key, digest, round, lease, told, counts, units,
         counted, late, duplicate, detail)
      VALUES (p_campaign, v_head.events, v_now, 'tell', p_actors[i], p_keys[i], p_digests[i],
        v_head.round, p_leases[i], v_told, v_counts, v_units, counted, late, duplicate,
        p_details[i]::json);
    INSERT INTO affinity.requests (campaign, key, event)
      VALUES (p_campaign, p_keys[i], v_head.events);
    IF p_details[i] IS NOT NULL AND counted = v_answers THEN
      PERFORM affinity.count_raters(p_campaign, v_head.events, p_details[i]::json);
    END IF;
    outcome := 'told';
    complete := v_head.answered = v_head.size AND v_head.status <> 'exhausted'
      AND NOT v_head.awaits_judges;
    RETURN NEXT;
  END LOOP;
  IF cardinality(v_add_slots) > 0 AND v_head.nodes = 0 THEN
    INSERT INTO affinity.sums AS s (campaign, place, answers, total)
      SELECT p_campaign, (a.slot % v_head.width)::integer, sum(a.n), sum(a.u)
      FROM unnest(v_add_slots, v_add_counts, v_add_units) AS a (slot, n, u)
      GROUP BY 2 ORDER BY 2
      ON CONFLICT (campaign, place) DO UPDATE
        SET answers = s.answers + excluded.answers, total = s.total + excluded.total;
  ELSIF cardinality(v_add_slots) > 0 THEN
    v_range := v_head.highest - v_head.lowest;
    WITH told AS MATERIALIZED (
      SELECT (a.slot % v_head.width)::integer AS place, a.n, a.u,
        (a.u / a.n - v_head.lowest) * (v_head.nodes - 1) AS way   -- times the width
      FROM unnest(v_add_slots, v_add_counts, v_add_units) AS a (slot, n, u)),
    parts AS (
      SELECT place, way / v_range AS node, n, u, n * (v_range - way % v_range) AS tally FROM told
      UNION ALL SELECT place, way / v_range + 1, 0, 0, n * (way % v_range) FROM told
        WHERE way % v_range > 0
      UNION ALL SELECT p.place, node, 0, 0, 0   -- so that every node is there
        FROM (SELECT DISTINCT place FROM told) AS p, generate_series(0, v_head.nodes - 1) AS node),
    counted AS (
      SELECT place, node, sum(n) AS n, sum(u) AS u, sum(tally) AS tally FROM parts GROUP BY 1, 2)
    INSERT INTO affinity.sums AS s (campaign, place, answers, total, tallies)
      SELECT p_campaign, place, sum(n), sum(u), array_agg(tally ORDER BY node)
      FROM counted GROUP BY 2 ORDER BY 2
      ON CONFLICT (campaign, place) DO UPDATE
        SET answers = s.answers + excluded.answers, total = s.total + excluded.total,
          tallies = ARRAY(SELECT a.there + a.more
            FROM unnest(s.tallies, excluded.tallies) WITH ORDINALITY AS a (there, more, nth)
            ORDER BY a.nth);
  END IF;
  IF v_head.events > v_first THEN
    UPDATE affinity.heads AS h SET answered = v_head.answered, events = v_head.events
      WHERE h.campaign = p_campaign;
    IF v_lapsed IS NOT NULL THEN
      PERFORM affinity.count_lapses(v_head, v_lapsed);
    END IF;
    IF v_head.answered = v_head.size AND NOT v_head.awaits_judges
        AND v_head.status <> 'exhausted' THEN
      INSERT INTO affinity.due (campaign) VALUES (p_campaign) ON CONFLICT DO NOTHING;
    END IF;
  END IF;
END $$;
