-- The chain of digests through an audit trail. What they are of is text that any language can write:
-- `affinity_bandits_service.trail.chain` does, to check them. It must never change after a
-- release: a column that is added later goes to the end, and only where it is not null.

-- STABLE like `extract`, or it would be called anew for every digest instead of inlined.
CREATE OR REPLACE FUNCTION affinity.microseconds(p_at timestamptz) RETURNS bigint
LANGUAGE sql STABLE RETURN (extract(epoch FROM p_at) * 1000000)::bigint;

-- Of what a campaign is, with which its chain begins. Its policy is in the first event.
CREATE OR REPLACE FUNCTION affinity.defined(c affinity.campaigns) RETURNS bytea
LANGUAGE sql STABLE RETURN sha256(convert_to(json_build_array(
    c.id, c.number, c.tenant, c.name, array_to_json(c.arms)::text, c.horizon,
    encode(float8send(c.lease_seconds), 'hex'), c.lowest, c.highest,
    affinity.microseconds(c.created_at), c.created_by, c.key, encode(c.digest, 'hex'),
    c.committee::text, array_to_json(c.tellers)::text)::text, 'UTF8'));

CREATE OR REPLACE FUNCTION affinity.chained(p_before bytea, e affinity.events) RETURNS bytea
LANGUAGE sql STABLE RETURN sha256(p_before || convert_to(json_build_array(
    e.campaign, e.number, affinity.microseconds(e.at), e.kind, e.actor, e.key,
    encode(e.digest, 'hex'), e.round, e.asked, e.slots::text, affinity.microseconds(e.expires_at),
    e.lease, e.told::text, e.counts::text, e.units::text, e.counted, e.late, e.duplicate,
    e.detail::text)::text, 'UTF8'));

-- A page of a trail: so many numbers from the first one after p_after. Both ends are known before
-- the plan is run, so only that part of the index is read, whatever the planner knows of the table.
CREATE OR REPLACE FUNCTION affinity.page(p_campaign uuid, p_after bigint, p_size integer)
RETURNS SETOF affinity.events LANGUAGE sql STABLE BEGIN ATOMIC
  SELECT e.* FROM affinity.events AS e WHERE e.campaign = p_campaign
    AND e.number >= (SELECT min(f.number) FROM affinity.events AS f
      WHERE f.campaign = p_campaign AND f.number > p_after)
    AND e.number < p_size + (SELECT min(f.number) FROM affinity.events AS f
      WHERE f.campaign = p_campaign AND f.number > p_after);
END;

-- Add an event to a campaign whose head is locked; its number is counted by whoever calls.
CREATE OR REPLACE FUNCTION affinity.add_event(
  p_campaign uuid, p_number bigint, p_at timestamptz, p_kind text, p_actor text, p_key text,
  p_round integer, p_detail json
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_event affinity.events;
BEGIN
  v_event.campaign := p_campaign; v_event.number := p_number;
  v_event.at := coalesce(p_at, clock_timestamp());
  v_event.kind := p_kind; v_event.actor := p_actor; v_event.key := p_key;
  v_event.round := p_round; v_event.detail := p_detail;
  SELECT affinity.chained(h.chain, v_event) INTO v_event.chain
    FROM affinity.heads AS h WHERE h.campaign = p_campaign;
  INSERT INTO affinity.events SELECT v_event.*;
  UPDATE affinity.heads AS h SET chain = v_event.chain WHERE h.campaign = p_campaign;
END $$;
