-- The two calls of the hot path. Each takes requests for one campaign or several, so that they share
-- a round trip, a commit and most statements. Keys are looked up under the locks: a repeat that waited
-- finds the first one. Plans are made once a connection, perhaps for empty tables, so reading whole
-- tables is off.

-- Campaigns are in increasing order, p_tenants and p_sizes say whose each is and how many requests it
-- has, and p_of names the campaign of each request, in the same order. No idempotency key comes twice.
-- With p_wait there is one campaign, which is waited for. Without it, requests for campaigns that are
-- locked or not there are 'busy', and to be sent alone: nobody waits for the campaign of another.

-- Slot s goes out only once every slot up to s - in_flight has its answer. A round of one arm has no
-- order: its slots are all alike.
CREATE OR REPLACE FUNCTION affinity.ask(
  p_tenants bigint[], p_campaigns uuid[], p_sizes integer[], p_of uuid[], p_wait boolean,
  p_now timestamptz, p_actors text[], p_keys text[], p_counts integer[]
) RETURNS TABLE (
  outcome text, lease bigint, round integer, slots int8multirange,
  expires_at timestamptz, outstanding bigint, retry_after double precision
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_heads affinity.heads[];
  v_head affinity.heads;
  v_at integer := 1;           -- the next of v_heads
  v_from integer;
  v_to integer := 0;           -- the last request of the campaign
  v_before bigint[];           -- of each request that came before, its event; usually NULL
  v_event affinity.events;
  v_lease affinity.leases;
  v_now timestamptz;
  v_first bigint;
  v_limit bigint;              -- the first slot that may not be handed out yet
  v_looked boolean;
  v_part int8multirange;
  v_again boolean;
  v_lapsed int8multirange;     -- slots that are offered for the second time
  v_leases affinity.leases[] := '{}';   -- to be written, as are
  v_events affinity.events[] := '{}';
BEGIN
  v_heads := affinity.locked(p_campaigns, p_wait);
  IF p_wait AND (cardinality(v_heads) = 0 OR v_heads[1].tenant <> p_tenants[1]) THEN
    RETURN;
  END IF;
  v_now := coalesce(p_now, clock_timestamp());
  v_before := affinity.events_before(p_campaigns, p_of, p_keys, p_actors);
  FOR k IN 1 .. cardinality(p_campaigns) LOOP
    v_from := v_to + 1;
    v_to := v_to + p_sizes[k];
    v_head := v_heads[v_at];
    IF v_head.campaign IS DISTINCT FROM p_campaigns[k] OR v_head.tenant <> p_tenants[k] THEN
      FOR i IN v_from .. v_to LOOP
        outcome := 'busy'; RETURN NEXT;
      END LOOP;
      IF v_head.campaign = p_campaigns[k] THEN v_at := v_at + 1; END IF;
      CONTINUE;
    END IF;
    v_at := v_at + 1;
    v_first := v_head.events;
    v_looked := false;
    FOR i IN v_from .. v_to LOOP
      lease := NULL; round := v_head.round; slots := NULL; expires_at := NULL;
      outstanding := NULL; retry_after := NULL; v_again := false;
      IF v_before[i] IS NOT NULL THEN
        SELECT * INTO v_event FROM affinity.events AS e
          WHERE e.campaign = p_campaigns[k] AND e.number = v_before[i];
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
          INSERT INTO affinity.leases SELECT * FROM unnest(v_leases);
          v_leases := '{}';
          SELECT coalesce(min(lower(l.pending)), v_head.next_slot) INTO v_head.oldest
            FROM affinity.leases AS l WHERE l.campaign = p_campaigns[k];
          v_looked := true;   -- no answer comes in between, so this holds for the rest of them
        END IF;
        v_limit := least(v_limit, v_head.oldest + v_head.in_flight);
      END IF;
      IF v_head.next_slot < v_limit THEN
        slots := int8multirange(int8range(
          v_head.next_slot, v_head.next_slot + least(p_counts[i], v_limit - v_head.next_slot)));
        v_head.next_slot := v_head.next_slot + least(p_counts[i], v_limit - v_head.next_slot);
      ELSE
        -- Nothing that nobody has had may go out: offer again what was given back, then what expired
        -- leases still owe.
        INSERT INTO affinity.leases SELECT * FROM unnest(v_leases);
        v_leases := '{}';
        v_again := true;
        slots := '{}';
        v_lapsed := '{}';
        FOR v_lease IN
            (SELECT * FROM affinity.leases AS l
              WHERE l.campaign = p_campaigns[k] AND l.released ORDER BY l.lease)
            UNION ALL
            (SELECT * FROM affinity.leases AS l
              WHERE l.campaign = p_campaigns[k] AND NOT l.released ORDER BY l.lease) LOOP
          EXIT WHEN NOT (v_lease.released
            OR affinity.is_past(v_lease.expires_at, v_now, v_head.lease_seconds));
          v_part := affinity.first_slots(v_lease.pending, p_counts[i] - affinity.slots_in(slots));
          slots := slots + v_part;
          IF NOT v_lease.again THEN
            v_lapsed := v_lapsed + v_part;
          END IF;
          IF v_part = v_lease.pending THEN
            DELETE FROM affinity.leases AS l
              WHERE l.campaign = p_campaigns[k] AND l.lease = v_lease.lease;
          ELSE
            UPDATE affinity.leases AS l SET pending = l.pending - v_part
              WHERE l.campaign = p_campaigns[k] AND l.lease = v_lease.lease;
          END IF;
          EXIT WHEN affinity.slots_in(slots) >= p_counts[i];
        END LOOP;
        IF isempty(slots) THEN
          outcome := 'wait'; slots := NULL;
          outstanding := v_head.next_slot - v_head.answered;
          SELECT greatest(0, extract(epoch FROM l.expires_at - v_now)) INTO retry_after
            FROM affinity.leases AS l WHERE l.campaign = p_campaigns[k] ORDER BY l.lease LIMIT 1;
          RETURN NEXT; CONTINUE;
        END IF;
        IF NOT isempty(v_lapsed) THEN
          PERFORM affinity.count_lapses(v_head, v_lapsed);
        END IF;
      END IF;
      v_head.events := v_head.events + 1;
      outcome := 'leased'; lease := v_head.events;
      expires_at := v_now + make_interval(secs => v_head.lease_seconds);
      v_lease := ROW(p_campaigns[k], lease, round, slots, expires_at, v_again, p_actors[i], false);
      v_leases := v_leases || v_lease;
      v_event := ROW(p_campaigns[k], lease, v_now, 'ask'::text, p_actors[i], p_keys[i], NULL::bytea,
        round, p_counts[i], slots, expires_at, NULL::bigint, NULL::bigint[], NULL::bigint[],
        NULL::bigint[], NULL::bigint, NULL::bigint, NULL::bigint, NULL::json, NULL::bytea);
      v_head.chain := affinity.chained(v_head.chain, v_event);
      v_event.chain := v_head.chain;
      v_events := v_events || v_event;
      RETURN NEXT;
    END LOOP;
    IF v_head.events > v_first THEN
      UPDATE affinity.heads AS h
        SET next_slot = v_head.next_slot, events = v_head.events, oldest = v_head.oldest,
          chain = v_head.chain
        WHERE h.campaign = p_campaigns[k];
    END IF;
  END LOOP;
  IF cardinality(v_leases) > 0 THEN
    INSERT INTO affinity.leases SELECT * FROM unnest(v_leases);
  END IF;
  PERFORM affinity.write_events(v_events);
END $$;
