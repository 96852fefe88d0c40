-- What the two calls of the hot path share: locks, idempotency keys, and what they write. They are
-- run with the settings of those.

-- Lock the heads of campaigns, in their order.
CREATE OR REPLACE FUNCTION affinity.locked(p_campaigns uuid[], p_wait boolean)
RETURNS affinity.heads[] LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF p_wait THEN
    RETURN ARRAY(SELECT h FROM affinity.heads AS h WHERE h.campaign = p_campaigns[1] FOR UPDATE);
  END IF;
  RETURN ARRAY(SELECT h FROM affinity.heads AS h WHERE h.campaign = ANY (p_campaigns)
    ORDER BY h.campaign FOR UPDATE SKIP LOCKED);
END $$;

-- Which event answered each request before; NULL if none did.
CREATE OR REPLACE FUNCTION affinity.events_before(
  p_campaigns uuid[], p_of uuid[], p_keys text[], p_actors text[]
) RETURNS bigint[] LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_found bigint[];
  v_one record;
BEGIN
  -- LIMIT: so that each key is looked up in the index, whatever the planner thinks of the tables.
  IF cardinality(p_campaigns) = 1 THEN   -- known before the plan is run, which leaves one partition
    FOR v_one IN SELECT a.nth, q.event
        FROM unnest(p_keys, p_actors) WITH ORDINALITY AS a (key, actor, nth),
        LATERAL (SELECT r.event FROM affinity.requests AS r WHERE r.campaign = p_campaigns[1]
          AND r.key = a.key AND r.actor = a.actor LIMIT 1) AS q LOOP
      v_found[v_one.nth] := v_one.event;
    END LOOP;
  ELSE
    FOR v_one IN SELECT a.nth, q.event
        FROM unnest(p_of, p_keys, p_actors) WITH ORDINALITY AS a (campaign, key, actor, nth),
        LATERAL (SELECT r.event FROM affinity.requests AS r WHERE r.campaign = a.campaign
          AND r.key = a.key AND r.actor = a.actor LIMIT 1) AS q LOOP
      v_found[v_one.nth] := v_one.event;
    END LOOP;
  END IF;
  RETURN v_found;
END $$;

-- Write events, and which requests they answer.
CREATE OR REPLACE FUNCTION affinity.write_events(p_events affinity.events[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF cardinality(p_events) > 0 THEN
    INSERT INTO affinity.events SELECT * FROM unnest(p_events);
    INSERT INTO affinity.requests (campaign, key, event, actor)
      SELECT e.campaign, e.key, e.number, e.actor FROM unnest(p_events) AS e;
  END IF;
END $$;
