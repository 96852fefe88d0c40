-- The other call of the hot path; see affinity.ask.

-- Item i of the batch has p_lengths[i] entries in p_told, p_counts and p_units: slots, zeros and
-- scores; or arms, how many answers have the same score, and that many times the score. p_details[i]
-- says who rated; without any, p_details is left out.
CREATE OR REPLACE FUNCTION affinity.tell(
  p_tenants bigint[], p_campaigns uuid[], p_sizes integer[], p_of uuid[], p_wait boolean,
  p_now timestamptz, p_actors text[], p_keys text[], p_digests bytea[], p_leases bigint[],
  p_lengths integer[], p_told bigint[], p_counts bigint[], p_units bigint[],
  p_details text[] DEFAULT NULL
) RETURNS TABLE (
  outcome text, counted bigint, late bigint, duplicate bigint, complete boolean
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_heads affinity.heads[];
  v_head affinity.heads;
  v_at integer := 1;   -- the next of v_heads
  v_request integer;
  v_last integer := 0;   -- the last request of the campaign
  v_campaign uuid;
  v_before bigint[];   -- of each request that came before, its event; usually NULL
  v_may boolean;   -- whether any lease may be answered
  v_in_range boolean;
  v_event affinity.events;
  v_events affinity.events[] := '{}';   -- to be written
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
  v_lapsed int8multirange;   -- slots that are answered after their first lease expired, if any
  v_range bigint;   -- of the range of scores
  -- What the batch adds to the sums: a slot or a place, a number of answers, their sum.
  v_add_slots bigint[] := '{}';
  v_add_counts bigint[] := '{}';
  v_add_units bigint[] := '{}';
BEGIN
  v_heads := affinity.locked(p_campaigns, p_wait);
  IF p_wait AND (cardinality(v_heads) = 0 OR v_heads[1].tenant <> p_tenants[1]) THEN
    RETURN;
  END IF;
  v_now := coalesce(p_now, clock_timestamp());
  v_before := affinity.events_before(p_campaigns, p_of, p_keys, p_actors);
  FOR k IN 1 .. cardinality(p_campaigns) LOOP
    v_request := v_last + 1;
    v_last := v_last + p_sizes[k];
    v_campaign := p_campaigns[k];
    v_head := v_heads[v_at];
    IF v_head.campaign IS DISTINCT FROM v_campaign OR v_head.tenant <> p_tenants[k] THEN
      FOR i IN v_request .. v_last LOOP
        v_from := v_from + p_lengths[i];
        outcome := 'busy'; complete := false; RETURN NEXT;
      END LOOP;
      IF v_head.campaign = v_campaign THEN v_at := v_at + 1; END IF;
      CONTINUE;
    END IF;
    v_at := v_at + 1;
    v_first := v_head.events;
    v_lapsed := NULL; v_add_slots := '{}'; v_add_counts := '{}'; v_add_units := '{}';
    FOR i IN v_request .. v_last LOOP
      v_told := p_told[v_from + 1 : v_from + p_lengths[i]];
      v_counts := CASE WHEN p_counts[v_from + 1] > 0
        THEN p_counts[v_from + 1 : v_from + p_lengths[i]] END;
      v_units := p_units[v_from + 1 : v_from + p_lengths[i]];
      v_from := v_from + p_lengths[i];
      counted := NULL; late := NULL; duplicate := NULL; complete := false;

      IF v_before[i] IS NOT NULL THEN
        SELECT * INTO v_event FROM affinity.events AS e
          WHERE e.campaign = v_campaign AND e.number = v_before[i];
        IF v_event.kind = 'tell' AND v_event.digest = p_digests[i] THEN
          outcome := 'told'; counted := v_event.counted; late := v_event.late;
          duplicate := v_event.duplicate;
        ELSE
          outcome := 'key_reused';
        END IF;
        RETURN NEXT; CONTINUE;
      END IF;
      v_may := v_head.tellers IS NOT NULL AND v_head.tellers && ARRAY[p_actors[i], 'any'];

      v_answers := p_lengths[i];
      v_new := '{}';
      IF v_counts IS NULL THEN
        IF v_answers = 1 THEN
          v_in_range := v_units[1] BETWEEN v_head.lowest AND v_head.highest;
          v_slots := int8multirange(int8range(v_told[1], v_told[1] + 1));
        ELSE
          SELECT min(u) >= v_head.lowest AND max(u) <= v_head.highest INTO v_in_range
            FROM unnest(v_units) AS u;
          SELECT range_agg(int8range(s, s + 1)) INTO v_slots FROM unnest(v_told) AS s;
        END IF;
        IF v_in_range THEN
          -- Most tells answer all that a lease owes, of which there are none but in the open round.
          DELETE FROM affinity.leases AS l WHERE l.campaign = v_campaign AND l.lease = p_leases[i]
            AND l.round = v_head.round AND l.pending = v_slots
            AND (v_may OR l.actor = p_actors[i])
            RETURNING l.* INTO v_lease;
          IF FOUND THEN
            v_new := v_slots;
            v_ask.round := v_lease.round; v_ask.expires_at := v_lease.expires_at;
            IF affinity.is_past(v_lease.expires_at, v_now, v_head.lease_seconds)
                AND NOT v_lease.again THEN
              v_lapsed := coalesce(v_lapsed, '{}') + v_new;
            END IF;
          END IF;
        END IF;
      END IF;

      IF isempty(v_new) THEN
        SELECT * INTO v_ask FROM affinity.events AS e
          WHERE e.campaign = v_campaign AND e.number = p_leases[i] AND e.kind = 'ask';
        IF NOT FOUND THEN
          outcome := 'no_lease'; RETURN NEXT; CONTINUE;
        END IF;
        IF v_ask.actor <> p_actors[i] AND NOT v_may THEN
          outcome := 'not_teller'; RETURN NEXT; CONTINUE;
        END IF;

        IF v_counts IS NOT NULL THEN
          IF EXISTS (SELECT FROM unnest(v_counts, v_units) AS t (n, u)
                     WHERE u / n NOT BETWEEN v_head.lowest AND v_head.highest) THEN
            -- The range itself, for whoever has to be told.
            outcome := 'score_out_of_range'; counted := v_head.lowest; late := v_head.highest;
            RETURN NEXT; CONTINUE;
          END IF;
          -- The lowest slots of each arm are taken as the answered ones.
          SELECT coalesce(range_agg(int8range(s.slot, s.slot + 1)), '{}') INTO v_slots
            FROM (SELECT g.slot,
                    row_number() OVER (
                      PARTITION BY g.slot % cardinality(r.arms) ORDER BY g.slot) AS nth,
                    r.arms[g.slot % cardinality(r.arms) + 1] AS arm
                  FROM affinity.rounds AS r, unnest(v_ask.slots) AS run,
                    generate_series(lower(run), upper(run) - 1) AS g (slot)
                  WHERE r.campaign = v_campaign AND r.number = v_ask.round) AS s
            JOIN (SELECT o.arm, sum(o.n) AS n FROM unnest(v_told, v_counts) AS o (arm, n)
                  GROUP BY o.arm) AS t ON t.arm = s.arm
            WHERE s.nth <= t.n;
          SELECT sum(n) INTO v_answers FROM unnest(v_counts) AS n;
          IF affinity.slots_in(v_slots) <> v_answers THEN
            outcome := 'slot_not_leased'; RETURN NEXT; CONTINUE;
          END IF;
        ELSE
          IF NOT v_in_range THEN
            -- The range itself, for whoever has to be told.
            outcome := 'score_out_of_range'; counted := v_head.lowest; late := v_head.highest;
            RETURN NEXT; CONTINUE;
          END IF;
          IF NOT v_slots <@ v_ask.slots THEN
            outcome := 'slot_not_leased'; RETURN NEXT; CONTINUE;
          END IF;
        END IF;

        IF v_ask.round = v_head.round THEN
          SELECT * INTO v_lease FROM affinity.leases AS l
            WHERE l.campaign = v_campaign AND l.lease = p_leases[i];
          IF v_counts IS NOT NULL THEN
            -- They do not say which slot has which score, so they count whole or not at all.
            IF FOUND AND v_lease.pending = v_ask.slots THEN
              v_new := v_slots;
            END IF;
          ELSIF FOUND THEN
            v_new := v_slots * v_lease.pending;
          END IF;
          IF NOT isempty(v_new) THEN
            IF affinity.is_past(v_ask.expires_at, v_now, v_head.lease_seconds)
                AND NOT v_lease.again THEN
              v_lapsed := coalesce(v_lapsed, '{}') + v_new;
            END IF;
            IF v_new = v_lease.pending THEN
              DELETE FROM affinity.leases AS l
                WHERE l.campaign = v_campaign AND l.lease = p_leases[i];
            ELSE
              UPDATE affinity.leases AS l SET pending = l.pending - v_new
                WHERE l.campaign = v_campaign AND l.lease = p_leases[i];
            END IF;
          END IF;
          IF v_counts IS NULL AND v_new <> v_slots THEN
            -- Some slots were offered again; whoever has them now has not answered yet.
            FOR v_lease IN SELECT * FROM affinity.leases AS l
                WHERE l.campaign = v_campaign AND l.lease > p_leases[i]
                  AND l.pending && (v_slots - v_new) LOOP
              v_part := v_lease.pending * (v_slots - v_new);
              v_new := v_new + v_part;
              IF v_part = v_lease.pending THEN
                DELETE FROM affinity.leases AS l
                  WHERE l.campaign = v_campaign AND l.lease = v_lease.lease;
              ELSE
                UPDATE affinity.leases AS l SET pending = l.pending - v_part
                  WHERE l.campaign = v_campaign AND l.lease = v_lease.lease;
              END IF;
            END LOOP;
          END IF;
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
          WHERE r.campaign = v_campaign AND r.number = v_head.round;
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
      IF v_ask.round <> v_head.round
          OR affinity.is_past(v_ask.expires_at, v_now, v_head.lease_seconds) THEN
        late := v_answers - counted;
      ELSE
        duplicate := v_answers - counted;
      END IF;
      IF duplicate > 0 AND duplicate = v_answers THEN
        -- It changes nothing, and anybody can send it again and again: it is counted and not kept.
        v_told := '{}'; v_units := '{}'; v_counts := v_counts[1 : 0];
      END IF;
      v_head.events := v_head.events + 1;
      v_head.bytes := v_head.bytes + pg_column_size(v_told) + pg_column_size(v_units)
        + CASE WHEN v_told <> '{}' THEN coalesce(octet_length(p_details[i]), 0) ELSE 0 END;
      v_head.answered := v_head.answered + counted;
      v_event := ROW(v_campaign, v_head.events, v_now, 'tell'::text, p_actors[i], p_keys[i],
        p_digests[i], v_head.round, NULL::integer, NULL::int8multirange, NULL::timestamptz,
        p_leases[i], v_told, v_counts, v_units, counted, late, duplicate,
        CASE WHEN v_told <> '{}' THEN p_details[i]::json END, NULL::bytea);
      v_head.chain := affinity.chained(v_head.chain, v_event);
      v_event.chain := v_head.chain;
      v_events := v_events || v_event;
      IF p_details[i] IS NOT NULL AND counted = v_answers THEN
        PERFORM affinity.count_raters(v_campaign, v_head.events, p_details[i]::json);
      END IF;
      outcome := 'told';
      complete := v_head.answered = v_head.size AND v_head.status <> 'exhausted'
        AND NOT v_head.awaits_judges;
      RETURN NEXT;
    END LOOP;
    IF cardinality(v_add_slots) > 0 AND v_head.nodes = 0 THEN
      INSERT INTO affinity.sums AS s (campaign, place, answers, total)
        SELECT v_campaign, (a.slot % v_head.width)::integer, sum(a.n), sum(a.u)
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
          FROM (SELECT DISTINCT place FROM told) AS p,
            generate_series(0, v_head.nodes - 1) AS node),
      counted AS (
        SELECT place, node, sum(n) AS n, sum(u) AS u, sum(tally) AS tally FROM parts GROUP BY 1, 2)
      INSERT INTO affinity.sums AS s (campaign, place, answers, total, tallies)
        SELECT v_campaign, place, sum(n), sum(u), array_agg(tally ORDER BY node)
        FROM counted GROUP BY 2 ORDER BY 2
        ON CONFLICT (campaign, place) DO UPDATE
          SET answers = s.answers + excluded.answers, total = s.total + excluded.total,
            tallies = ARRAY(SELECT a.there + a.more
              FROM unnest(s.tallies, excluded.tallies) WITH ORDINALITY AS a (there, more, nth)
              ORDER BY a.nth);
    END IF;
    IF v_head.events > v_first THEN
      UPDATE affinity.heads AS h
        SET answered = v_head.answered, events = v_head.events, bytes = v_head.bytes,
          chain = v_head.chain
        WHERE h.campaign = v_campaign;
      IF v_lapsed IS NOT NULL THEN
        PERFORM affinity.count_lapses(v_head, v_lapsed);
      END IF;
      IF v_head.answered = v_head.size AND NOT v_head.awaits_judges
          AND v_head.status <> 'exhausted' THEN
        INSERT INTO affinity.due (campaign) VALUES (v_campaign) ON CONFLICT DO NOTHING;
      END IF;
    END IF;
  END LOOP;
  PERFORM affinity.write_events(v_events);
END $$;
