-- How many slots may be under way at once, from the oldest without an answer to the newest handed
-- out; NULL where the order of answers does not matter to the policy.
ALTER TABLE affinity.heads ADD COLUMN in_flight bigint CHECK (in_flight >= 1);
-- All slots before it have their answers. Perhaps more have: it is looked up anew only when the
-- window seems full, since that means reading all leases.
ALTER TABLE affinity.heads ADD COLUMN oldest bigint NOT NULL DEFAULT 0;

-- As before, but slot s goes out only once every slot up to s - in_flight has its answer. A round of
-- one arm has no order: its slots are all alike.
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
BEGIN
  SELECT * INTO v_head FROM affinity.heads AS h
    WHERE h.campaign = p_campaign AND h.tenant = p_tenant FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  v_now := coalesce(p_now, clock_timestamp());
  v_first := v_head.events;
  FOR i IN 1 .. cardinality(p_keys) LOOP
    lease := NULL; round := v_head.round; slots := NULL; expires_at := NULL;
    outstanding := NULL; retry_after := NULL;
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
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF v_head.status IN ('exhausted', 'stopped') THEN
      outcome := v_head.status;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF v_head.answered = v_head.size THEN
      outcome := 'closing';
      RETURN NEXT;
      CONTINUE;
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
      slots := '{}';
      FOR v_lease IN SELECT * FROM affinity.leases AS l
          WHERE l.campaign = p_campaign ORDER BY l.lease LOOP
        EXIT WHEN v_lease.expires_at > v_now;
        v_part := affinity.first_slots(v_lease.pending, p_counts[i] - affinity.slots_in(slots));
        slots := slots + v_part;
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
        RETURN NEXT;
        CONTINUE;
      END IF;
    END IF;
    v_head.events := v_head.events + 1;
    outcome := 'leased'; lease := v_head.events;
    expires_at := v_now + make_interval(secs => v_head.lease_seconds);
    INSERT INTO affinity.leases (campaign, lease, round, pending, expires_at)
      VALUES (p_campaign, lease, v_head.round, slots, expires_at);
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
