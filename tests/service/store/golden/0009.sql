--
-- PostgreSQL database dump
--

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: affinity; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA affinity;

--
-- Name: add_event(uuid, bigint, timestamp with time zone, text, text, text, integer, json); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.add_event(p_campaign uuid, p_number bigint, p_at timestamp with time zone, p_kind text, p_actor text, p_key text, p_round integer, p_detail json) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

--
-- Name: ask(bigint[], uuid[], integer[], uuid[], boolean, timestamp with time zone, text[], text[], integer[]); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.ask(p_tenants bigint[], p_campaigns uuid[], p_sizes integer[], p_of uuid[], p_wait boolean, p_now timestamp with time zone, p_actors text[], p_keys text[], p_counts integer[]) RETURNS TABLE(outcome text, lease bigint, round integer, slots int8multirange, expires_at timestamp with time zone, outstanding bigint, retry_after double precision)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
        -- Nothing that nobody has had may go out: offer again what expired leases still owe.
        INSERT INTO affinity.leases SELECT * FROM unnest(v_leases);
        v_leases := '{}';
        v_again := true;
        slots := '{}';
        v_lapsed := '{}';
        FOR v_lease IN SELECT * FROM affinity.leases AS l
            WHERE l.campaign = p_campaigns[k] ORDER BY l.lease LOOP
          EXIT WHEN v_lease.expires_at > v_now;
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
      v_lease := ROW(p_campaigns[k], lease, round, slots, expires_at, v_again, p_actors[i]);
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

SET default_tablespace = '';

--
-- Name: events; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
)
PARTITION BY HASH (campaign);

--
-- Name: chained(bytea, affinity.events); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.chained(p_before bytea, e affinity.events) RETURNS bytea
    LANGUAGE sql STABLE
    AS $$
  SELECT sha256(p_before || convert_to(json_build_array(
    e.campaign, e.number, affinity.microseconds(e.at), e.kind, e.actor, e.key,
    encode(e.digest, 'hex'), e.round, e.asked, e.slots::text, affinity.microseconds(e.expires_at),
    e.lease, e.told::text, e.counts::text, e.units::text, e.counted, e.late, e.duplicate,
    e.detail::text)::text, 'UTF8'))
$$;

SET default_table_access_method = heap;

--
-- Name: heads; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.heads (
    campaign uuid NOT NULL,
    tenant bigint NOT NULL,
    status text NOT NULL,
    round integer NOT NULL,
    width integer NOT NULL,
    size bigint NOT NULL,
    next_slot bigint NOT NULL,
    answered bigint NOT NULL,
    events bigint NOT NULL,
    lease_seconds double precision NOT NULL,
    lowest bigint NOT NULL,
    highest bigint NOT NULL,
    in_flight bigint,
    oldest bigint DEFAULT 0 NOT NULL,
    nodes integer DEFAULT 0 NOT NULL,
    awaits_judges boolean DEFAULT false NOT NULL,
    tellers text[],
    chain bytea NOT NULL,
    CONSTRAINT heads_check CHECK (((answered <= next_slot) AND (next_slot <= size))),
    CONSTRAINT heads_in_flight_check CHECK ((in_flight >= 1)),
    CONSTRAINT heads_nodes_check CHECK ((nodes >= 0)),
    CONSTRAINT heads_status_check CHECK ((status = ANY (ARRAY['open'::text, 'decided'::text, 'exhausted'::text, 'stopped'::text])))
)
WITH (fillfactor='50');

--
-- Name: count_lapses(affinity.heads, int8multirange); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.count_lapses(p_head affinity.heads, p_slots int8multirange) RETURNS void
    LANGUAGE sql
    AS $$
  INSERT INTO affinity.lapses AS l (campaign, round, place, slots)
    SELECT p_head.campaign, p_head.round, (s % p_head.width)::integer, count(*)
    FROM unnest(p_slots) AS run, generate_series(lower(run), upper(run) - 1) AS s
    GROUP BY 3 ORDER BY 3
    ON CONFLICT (campaign, round, place) DO UPDATE SET slots = l.slots + excluded.slots
$$;

--
-- Name: count_raters(uuid, bigint, json); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.count_raters(p_campaign uuid, p_event bigint, p_detail json) RETURNS void
    LANGUAGE sql
    AS $$
  INSERT INTO affinity.raters AS r (campaign, rater, scores, first, place)
    SELECT p_campaign, a.rater, count(*), p_event, min(a.nth)
    FROM json_array_elements_text(p_detail -> 'raters') WITH ORDINALITY AS a (rater, nth)
    WHERE a.rater IS NOT NULL GROUP BY 2
    ON CONFLICT (campaign, rater) DO UPDATE SET scores = r.scores + excluded.scores
$$;

--
-- Name: campaigns; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.campaigns (
    id uuid NOT NULL,
    number bigint NOT NULL,
    tenant bigint NOT NULL,
    name text NOT NULL,
    arms text[] NOT NULL,
    policy json NOT NULL,
    horizon bigint NOT NULL,
    lease_seconds double precision NOT NULL,
    lowest bigint NOT NULL,
    highest bigint NOT NULL,
    saved json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    key text NOT NULL,
    digest bytea NOT NULL,
    committee bigint[],
    tellers text[]
);

--
-- Name: defined(affinity.campaigns); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.defined(c affinity.campaigns) RETURNS bytea
    LANGUAGE sql STABLE
    AS $$
  SELECT sha256(convert_to(json_build_array(
    c.id, c.number, c.tenant, c.name, array_to_json(c.arms)::text, c.horizon,
    encode(float8send(c.lease_seconds), 'hex'), c.lowest, c.highest,
    affinity.microseconds(c.created_at), c.created_by, c.key, encode(c.digest, 'hex'),
    c.committee::text, array_to_json(c.tellers)::text)::text, 'UTF8'))
$$;

--
-- Name: events_before(uuid[], uuid[], text[], text[]); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.events_before(p_campaigns uuid[], p_of uuid[], p_keys text[], p_actors text[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
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

--
-- Name: first_slots(int8multirange, bigint); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.first_slots(p_slots int8multirange, p_count bigint) RETURNS int8multirange
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
  v_run int8range;
  v_left bigint := p_count;
  v_found int8multirange := '{}';
BEGIN
  FOR v_run IN SELECT run FROM unnest(p_slots) AS run ORDER BY lower(run) LOOP
    EXIT WHEN v_left <= 0;
    v_found := v_found
      + int8multirange(int8range(lower(v_run), least(upper(v_run), lower(v_run) + v_left)));
    v_left := v_left - (upper(v_run) - lower(v_run));
  END LOOP;
  RETURN v_found;
END $$;

--
-- Name: locked(uuid[], boolean); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.locked(p_campaigns uuid[], p_wait boolean) RETURNS affinity.heads[]
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF p_wait THEN
    RETURN ARRAY(SELECT h FROM affinity.heads AS h WHERE h.campaign = p_campaigns[1] FOR UPDATE);
  END IF;
  RETURN ARRAY(SELECT h FROM affinity.heads AS h WHERE h.campaign = ANY (p_campaigns)
    ORDER BY h.campaign FOR UPDATE SKIP LOCKED);
END $$;

--
-- Name: microseconds(timestamp with time zone); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.microseconds(p_at timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT (extract(epoch FROM p_at) * 1000000)::bigint
$$;

--
-- Name: refuse_change(); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('affinity.removing', true) = 'yes'
      AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER')
  THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the audit trail is append-only';
END $$;

--
-- Name: remove_campaign(uuid, text, json); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.remove_campaign(p_campaign uuid, p_by text, p_detail json) RETURNS void
    LANGUAGE plpgsql
    AS $_$
DECLARE
  v_tenant text;
  v_table text;
BEGIN
  SELECT t.name INTO STRICT v_tenant FROM affinity.campaigns AS c
    JOIN affinity.heads AS h ON h.campaign = c.id
    JOIN affinity.tenants AS t ON t.id = c.tenant
    WHERE c.id = p_campaign FOR UPDATE OF h;
  INSERT INTO affinity.removals (by, tenant, campaign, detail)
    VALUES (p_by, v_tenant, p_campaign, p_detail);
  PERFORM set_config('affinity.removing', 'yes', true);
  DELETE FROM affinity.events WHERE campaign = p_campaign;
  PERFORM set_config('affinity.removing', '', true);
  FOREACH v_table IN ARRAY ARRAY['requests', 'leases', 'lapses', 'sums', 'raters', 'due', 'faults',
      'findings', 'health', 'named_judges', 'notices', 'rounds', 'heads'] LOOP
    EXECUTE format('DELETE FROM affinity.%I WHERE campaign = $1', v_table) USING p_campaign;
  END LOOP;
  DELETE FROM affinity.campaigns WHERE id = p_campaign;
END $_$;

--
-- Name: remove_tenant(text, text, json); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.remove_tenant(p_tenant text, p_by text, p_detail json) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  v_id bigint;
BEGIN
  SELECT id INTO STRICT v_id FROM affinity.tenants WHERE name = p_tenant FOR UPDATE;
  INSERT INTO affinity.removals (by, tenant, detail) VALUES (p_by, p_tenant, p_detail);
  DELETE FROM affinity.webhooks WHERE tenant = v_id;
  DELETE FROM affinity.api_keys WHERE tenant = v_id;
  DELETE FROM affinity.tenants WHERE id = v_id;
END $$;

--
-- Name: slots_in(int8multirange); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.slots_in(p_slots int8multirange) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT coalesce(sum(upper(run) - lower(run)), 0)::bigint FROM unnest(p_slots) AS run
$$;

--
-- Name: tell(bigint[], uuid[], integer[], uuid[], boolean, timestamp with time zone, text[], text[], bytea[], bigint[], text[], integer[], bigint[], bigint[], bigint[], text[]); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.tell(p_tenants bigint[], p_campaigns uuid[], p_sizes integer[], p_of uuid[], p_wait boolean, p_now timestamp with time zone, p_actors text[], p_keys text[], p_digests bytea[], p_leases bigint[], p_forms text[], p_lengths integer[], p_told bigint[], p_counts bigint[], p_units bigint[], p_details text[] DEFAULT NULL::text[]) RETURNS TABLE(outcome text, counted bigint, late bigint, duplicate bigint, complete boolean)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
      v_counts := CASE WHEN p_forms[i] <> 'answers'
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
            IF v_lease.expires_at <= v_now AND NOT v_lease.again THEN
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
                    row_number() OVER (
                      PARTITION BY g.slot % cardinality(r.arms) ORDER BY g.slot) AS nth,
                    r.arms[g.slot % cardinality(r.arms) + 1] AS arm
                  FROM affinity.rounds AS r, unnest(v_ask.slots) AS run,
                    generate_series(lower(run), upper(run) - 1) AS g (slot)
                  WHERE r.campaign = v_campaign AND r.number = v_ask.round) AS s
            JOIN (SELECT o.arm, sum(o.n) AS n FROM unnest(v_told, v_counts) AS o (arm, n)
                  GROUP BY o.arm) AS t ON t.arm = s.arm
            WHERE s.nth <= t.n;
          SELECT coalesce(sum(n), 0) INTO v_answers FROM unnest(v_counts) AS n;
          IF affinity.slots_in(v_slots) <> v_answers THEN
            outcome := 'slot_not_leased'; RETURN NEXT; CONTINUE;
          END IF;
        ELSE
          IF NOT v_in_range THEN
            outcome := 'score_out_of_range'; RETURN NEXT; CONTINUE;
          END IF;
          IF NOT v_slots <@ v_ask.slots THEN
            outcome := 'slot_not_leased'; RETURN NEXT; CONTINUE;
          END IF;
        END IF;

        IF v_ask.round = v_head.round THEN
          SELECT * INTO v_lease FROM affinity.leases AS l
            WHERE l.campaign = v_campaign AND l.lease = p_leases[i];
          IF v_counts IS NOT NULL THEN
            -- A sum cannot be taken apart: it counts whole or not at all.
            IF FOUND AND v_lease.pending = v_ask.slots THEN
              v_new := v_slots;
            END IF;
          ELSIF FOUND THEN
            v_new := v_slots * v_lease.pending;
          END IF;
          IF NOT isempty(v_new) THEN
            IF v_ask.expires_at <= v_now AND NOT v_lease.again THEN
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
          WHERE r.campaign = v_campaign AND r.number = v_head.round AND a.n > 0;
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
      v_event := ROW(v_campaign, v_head.events, v_now, 'tell'::text, p_actors[i], p_keys[i],
        p_digests[i], v_head.round, NULL::integer, NULL::int8multirange, NULL::timestamptz,
        p_leases[i], v_told, v_counts, v_units, counted, late, duplicate, p_details[i]::json,
        NULL::bytea);
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
        SET answered = v_head.answered, events = v_head.events, chain = v_head.chain
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

--
-- Name: write_events(affinity.events[]); Type: FUNCTION; Schema: affinity; Owner: -
--

CREATE FUNCTION affinity.write_events(p_events affinity.events[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF cardinality(p_events) > 0 THEN
    INSERT INTO affinity.events SELECT * FROM unnest(p_events);
    INSERT INTO affinity.requests (campaign, key, event, actor)
      SELECT e.campaign, e.key, e.number, e.actor FROM unnest(p_events) AS e;
  END IF;
END $$;

--
-- Name: affinity_schema; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.affinity_schema (
    version_num character varying(32) NOT NULL
);

--
-- Name: api_keys; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.api_keys (
    id text NOT NULL,
    tenant bigint NOT NULL,
    name text NOT NULL,
    secret_digest bytea NOT NULL,
    scopes text[] NOT NULL,
    requests_per_second double precision NOT NULL,
    largest_body bigint NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    parent text,
    made_by text,
    CONSTRAINT api_keys_largest_body_check CHECK ((largest_body > 0)),
    CONSTRAINT api_keys_requests_per_second_check CHECK ((requests_per_second > (0)::double precision)),
    CONSTRAINT api_keys_scopes_check CHECK ((scopes <@ ARRAY['ask'::text, 'tell'::text, 'read'::text, 'admin'::text, 'keys'::text])),
    CONSTRAINT api_keys_secret_digest_check CHECK ((octet_length(secret_digest) = 32))
);

--
-- Name: campaigns_number_seq; Type: SEQUENCE; Schema: affinity; Owner: -
--

ALTER TABLE affinity.campaigns ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME affinity.campaigns_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: due; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.due (
    campaign uuid NOT NULL
);

--
-- Name: events_0; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_0 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_1; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_1 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_10; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_10 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_11; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_11 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_12; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_12 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_13; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_13 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_14; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_14 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_15; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_15 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_2; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_2 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_3; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_3 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_4; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_4 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_5; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_5 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_6; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_6 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_7; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_7 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_8; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_8 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: events_9; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.events_9 (
    campaign uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    key text,
    digest bytea,
    round integer NOT NULL,
    asked integer,
    slots int8multirange,
    expires_at timestamp with time zone,
    lease bigint,
    told bigint[],
    counts bigint[],
    units bigint[],
    counted bigint,
    late bigint,
    duplicate bigint,
    detail json,
    chain bytea NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'ask'::text, 'tell'::text, 'close'::text, 'stop'::text, 'judges'::text])))
);

--
-- Name: faults; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.faults (
    campaign uuid NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    since timestamp with time zone NOT NULL,
    tries integer NOT NULL,
    retry_at timestamp with time zone NOT NULL
);

--
-- Name: findings; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.findings (
    campaign uuid NOT NULL,
    kind text NOT NULL,
    severity text NOT NULL,
    since timestamp with time zone NOT NULL,
    arms integer[] NOT NULL,
    seen text NOT NULL,
    effect text NOT NULL,
    advice text NOT NULL,
    CONSTRAINT findings_severity_check CHECK ((severity = ANY (ARRAY['note'::text, 'warning'::text])))
);

--
-- Name: health; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.health (
    campaign uuid NOT NULL,
    due_at timestamp with time zone,
    checked_at timestamp with time zone,
    answers bigint DEFAULT 0 NOT NULL,
    silent double precision DEFAULT 0 NOT NULL,
    longest double precision DEFAULT 0 NOT NULL
);

--
-- Name: lapses; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.lapses (
    campaign uuid NOT NULL,
    round integer NOT NULL,
    place integer NOT NULL,
    slots bigint NOT NULL
)
WITH (fillfactor='50');

--
-- Name: leases; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.leases (
    campaign uuid NOT NULL,
    lease bigint NOT NULL,
    round integer NOT NULL,
    pending int8multirange NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    again boolean DEFAULT false NOT NULL,
    actor text NOT NULL,
    CONSTRAINT leases_pending_check CHECK ((NOT isempty(pending)))
);

--
-- Name: named_judges; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.named_judges (
    campaign uuid NOT NULL,
    event bigint NOT NULL,
    round integer NOT NULL,
    judges bigint[] NOT NULL,
    outsiders bigint NOT NULL,
    standing boolean NOT NULL
);

--
-- Name: notices; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.notices (
    number bigint NOT NULL,
    webhook uuid NOT NULL,
    campaign uuid NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    dead boolean DEFAULT false NOT NULL
);

--
-- Name: notices_number_seq; Type: SEQUENCE; Schema: affinity; Owner: -
--

ALTER TABLE affinity.notices ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME affinity.notices_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: raters; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.raters (
    campaign uuid NOT NULL,
    rater text NOT NULL,
    scores bigint NOT NULL,
    first bigint NOT NULL,
    place bigint NOT NULL
)
WITH (fillfactor='50');

--
-- Name: removals; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.removals (
    number bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    by text NOT NULL,
    role text DEFAULT CURRENT_USER NOT NULL,
    tenant text NOT NULL,
    campaign uuid,
    detail json NOT NULL
);

--
-- Name: removals_number_seq; Type: SEQUENCE; Schema: affinity; Owner: -
--

ALTER TABLE affinity.removals ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME affinity.removals_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: requests; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
)
PARTITION BY HASH (campaign);

--
-- Name: requests_0; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_0 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_1; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_1 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_10; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_10 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_11; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_11 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_12; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_12 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_13; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_13 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_14; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_14 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_15; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_15 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_2; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_2 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_3; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_3 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_4; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_4 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_5; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_5 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_6; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_6 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_7; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_7 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_8; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_8 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: requests_9; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.requests_9 (
    campaign uuid NOT NULL,
    key text NOT NULL,
    event bigint NOT NULL,
    actor text NOT NULL
);

--
-- Name: rounds; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.rounds (
    campaign uuid NOT NULL,
    number integer NOT NULL,
    arms integer[] NOT NULL,
    repetitions bigint NOT NULL,
    size bigint NOT NULL,
    before bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    counts bigint[],
    sums numeric[],
    dropped integer[],
    lapsed bigint[] DEFAULT '{}'::bigint[],
    judges bigint[],
    outsiders bigint,
    fewest_seats integer
);

--
-- Name: sums; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.sums (
    campaign uuid NOT NULL,
    place integer NOT NULL,
    answers bigint NOT NULL,
    total numeric NOT NULL,
    tallies numeric[]
)
WITH (fillfactor='50');

--
-- Name: tenants; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.tenants (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

--
-- Name: tenants_id_seq; Type: SEQUENCE; Schema: affinity; Owner: -
--

ALTER TABLE affinity.tenants ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME affinity.tenants_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: webhooks; Type: TABLE; Schema: affinity; Owner: -
--

CREATE TABLE affinity.webhooks (
    id uuid NOT NULL,
    tenant bigint NOT NULL,
    url text NOT NULL,
    secret bytea NOT NULL,
    kinds text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text NOT NULL,
    removed_at timestamp with time zone,
    retry_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_failure text
);

--
-- Name: events_0; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_0 FOR VALUES WITH (modulus 16, remainder 0);

--
-- Name: events_1; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_1 FOR VALUES WITH (modulus 16, remainder 1);

--
-- Name: events_10; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_10 FOR VALUES WITH (modulus 16, remainder 10);

--
-- Name: events_11; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_11 FOR VALUES WITH (modulus 16, remainder 11);

--
-- Name: events_12; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_12 FOR VALUES WITH (modulus 16, remainder 12);

--
-- Name: events_13; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_13 FOR VALUES WITH (modulus 16, remainder 13);

--
-- Name: events_14; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_14 FOR VALUES WITH (modulus 16, remainder 14);

--
-- Name: events_15; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_15 FOR VALUES WITH (modulus 16, remainder 15);

--
-- Name: events_2; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_2 FOR VALUES WITH (modulus 16, remainder 2);

--
-- Name: events_3; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_3 FOR VALUES WITH (modulus 16, remainder 3);

--
-- Name: events_4; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_4 FOR VALUES WITH (modulus 16, remainder 4);

--
-- Name: events_5; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_5 FOR VALUES WITH (modulus 16, remainder 5);

--
-- Name: events_6; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_6 FOR VALUES WITH (modulus 16, remainder 6);

--
-- Name: events_7; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_7 FOR VALUES WITH (modulus 16, remainder 7);

--
-- Name: events_8; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_8 FOR VALUES WITH (modulus 16, remainder 8);

--
-- Name: events_9; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events ATTACH PARTITION affinity.events_9 FOR VALUES WITH (modulus 16, remainder 9);

--
-- Name: requests_0; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_0 FOR VALUES WITH (modulus 16, remainder 0);

--
-- Name: requests_1; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_1 FOR VALUES WITH (modulus 16, remainder 1);

--
-- Name: requests_10; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_10 FOR VALUES WITH (modulus 16, remainder 10);

--
-- Name: requests_11; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_11 FOR VALUES WITH (modulus 16, remainder 11);

--
-- Name: requests_12; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_12 FOR VALUES WITH (modulus 16, remainder 12);

--
-- Name: requests_13; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_13 FOR VALUES WITH (modulus 16, remainder 13);

--
-- Name: requests_14; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_14 FOR VALUES WITH (modulus 16, remainder 14);

--
-- Name: requests_15; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_15 FOR VALUES WITH (modulus 16, remainder 15);

--
-- Name: requests_2; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_2 FOR VALUES WITH (modulus 16, remainder 2);

--
-- Name: requests_3; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_3 FOR VALUES WITH (modulus 16, remainder 3);

--
-- Name: requests_4; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_4 FOR VALUES WITH (modulus 16, remainder 4);

--
-- Name: requests_5; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_5 FOR VALUES WITH (modulus 16, remainder 5);

--
-- Name: requests_6; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_6 FOR VALUES WITH (modulus 16, remainder 6);

--
-- Name: requests_7; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_7 FOR VALUES WITH (modulus 16, remainder 7);

--
-- Name: requests_8; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_8 FOR VALUES WITH (modulus 16, remainder 8);

--
-- Name: requests_9; Type: TABLE ATTACH; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests ATTACH PARTITION affinity.requests_9 FOR VALUES WITH (modulus 16, remainder 9);

--
-- Data for Name: affinity_schema; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.affinity_schema VALUES ('0009');

--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.api_keys VALUES ('0123456789abcdef', 1, 'golden', '\x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', '{ask,tell}', 1000, 1048576, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL);

--
-- Data for Name: campaigns; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000004', 4, 1, 'campaign 4', '{a,b,ü}', '{"name": "explore-then-commit", "pulls_per_arm": 3}', 50, 60, 0, 1000000000, '{"policy": {"name": "explore-then-commit", "pulls_per_arm": 3}, "version": 1, "arms": 3, "horizon": 50, "state": {"repetitions": [3], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '2030-01-01 00:00:00+00', 'g', 'c4', '\x8f9afea575fa1eadbdfb2609ad52a873b7aa97a2a2c5102ea085eae247e016a8', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000005', 5, 1, 'campaign 5', '{a,b,ü}', '{"name": "explore-then-commit", "pulls_per_arm": 3}', 50, 60, 0, 1000000000, '{"policy": {"name": "explore-then-commit", "pulls_per_arm": 3}, "version": 1, "arms": 3, "horizon": 50, "state": {"repetitions": [3], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '2030-01-01 00:00:00+00', 'g', 'c5', '\x09e0891b5716b46e8aea3d565295e5a90391ce3ec620d13e8a5a18793be8b886', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000008', 8, 1, 'campaign 8', '{a,b,ü}', '{"name": "explore-then-commit", "pulls_per_arm": 3}', 50, 60, 0, 1000000000, '{"policy": {"name": "explore-then-commit", "pulls_per_arm": 3}, "version": 1, "arms": 3, "horizon": 50, "state": {"repetitions": [3], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '2030-01-01 00:00:00+00', 'g', 'c8', '\xe9dced808ed6ecd87a7aad69d91c484cae742167c3066db1ed32241aa1dce7ee', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000002', 2, 1, 'campaign 2', '{a,b,ü}', '{"name": "explore-then-commit", "pulls_per_arm": 2}', 50, 60, 0, 1000000000, '{"policy": {"name": "explore-then-commit", "pulls_per_arm": 2}, "version": 1, "arms": 3, "horizon": 50, "state": {"repetitions": [2], "keep": [1], "cumulative": 0, "phase": [1], "left": [1], "active": [2, 1, 2], "dropped_in": [1, 1, 0], "pulls": [2, 2, 2], "sums": [0.600000003, 0.800000005, 1.000000007], "means": [0.3000000015, 0.4000000025, 0.5000000035]}}', '2030-01-01 00:00:00+00', 'g', 'c2', '\x246f9ae51320f8aedee3953035a1dfbca3e26e9d7b356616929e459ffbaf39e5', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000001', 1, 1, 'campaign 1', '{a,b,ü}', '{"name": "elimination", "schedule": {"name": "listed", "rounds": [[4, 0.5], [6, 0.1]]}, "discard_first": true}', 200, 60, 0, 1000000000, '{"policy": {"name": "elimination", "schedule": {"name": "listed", "rounds": [[4, 0.5], [6, 0.1]]}, "discard_first": true}, "version": 1, "arms": 3, "horizon": 200, "state": {"repetitions": [1, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.40000000375, 0.4000000055, 0.450000006]}}', '2030-01-01 00:00:00+00', 'g', 'c1', '\x22403eb25b79ef7d25bbc33a22c7e273ed5a0127390997daf920f39ef9bbcee7', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-00000000000a', 10, 1, 'campaign 10', '{a,b,ü}', '{"name": "handicap-elimination", "head_start": null, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": 0.05, "expected_difference": null, "in_flight": null, "judges": "panel"}', 500, 60, 0, 1000000000, '{"policy": {"name": "handicap-elimination", "head_start": null, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": 0.05, "expected_difference": null, "in_flight": null, "judges": "panel"}, "version": 2, "arms": 3, "horizon": 500, "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": -1, "shortest": 1, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [0, 0, 0], "passes": [6], "doubled": [5], "rounds": [3], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [0], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [6, 6, 6], "means": [0.7000000000000001, 0.466666667, 0.23333333400000003], "recent": [4.5], "sums": [2.950000000000001, 2.0666666685, 1.183333337], "squares": [2.3833333333333337, 0.987500001375, 0.5250000045833334], "log_wealth": [-3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9128245518326605, -5.319809524887568, -4.563049071720092, -3.4504882929567313, -2.6184895897642266, -2.0663561436801383, -1.7368300083644441, -1.7304413382402977, -1.9517745508426936, -2.4439562578817724, -3.173459670621532, -4.125639489784101, -5.24844415695002, -6.371315320050883, -7.170169343192152, -7.561019728143846, -7.777384502023816, -7.956603111354303, -8.130510898928717, -8.303848133964626, -8.477138120679328, -8.650425073344305, -8.823711874553759, -8.996998669876412, -9.170285465020696, -9.34357226016076, -9.516859055300747, -9.690145850440734, -9.86343264558072, -10.036719440720706, -10.210006235860693, -10.38329303100068, -10.556579826140666, -10.729866621280651, -10.903153416420638, -11.076440211560625, -11.249727006700612, -11.423013801840597, -11.596300596980583, -11.76958739212057, -11.942874187260557, -12.116160982400544, -12.289447777540529, -12.462734572680516, -12.636021367820502, -12.80930816296049, -12.982594958100474, -13.155881753240461, -13.329168548380448, -3.912975864280665, -5.480003965556761, -4.555264529092422, -3.5197991083743365, -2.697580557414704, -2.1358179948997074, -1.7665555178446455, -1.752722265670905, -1.9519258632906986, -2.444107570329777, -3.1736109830695365, -4.125790802232106, -5.248595469398025, -6.371466632498888, -7.170320655640157, -7.561171040591851, -7.777535814471821, -7.956754423802308, -8.130662211376723, -8.303999446412632, -8.477289433127334, -8.650576385792311, -8.823863187001765, -8.997149982324418, -9.170436777468701, -9.343723572608766, -9.517010367748753, -9.69029716288874, -9.863583958028727, -10.036870753168712, -10.210157548308699, -10.383444343448685, -10.556731138588672, -10.730017933728657, -10.903304728868644, -11.07659152400863, -11.249878319148618, -11.423165114288603, -11.59645190942859, -11.769738704568576, -11.943025499708563, -12.11631229484855, -12.289599089988535, -12.462885885128522, -12.636172680268508, -12.809459475408495, -12.98274627054848, -13.156033065688467, -13.329319860828454]}, "judges": [0, 2, 1], "first": [-1, -1, -1]}}', '2030-01-01 00:00:00+00', 'g', 'c10', '\x85a42498edd31392eaaa05c15648865cd7f51a3b9a6feb0f778a3a45858298a2', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000003', 3, 1, 'campaign 3', '{a,b,ü}', '{"name": "elimination", "schedule": {"name": "listed", "rounds": [[2, 9.0]]}, "discard_first": false}', 7, 60, 0, 1000000000, '{"policy": {"name": "elimination", "schedule": {"name": "listed", "rounds": [[2, 9.0]]}, "discard_first": false}, "version": 1, "arms": 3, "horizon": 7, "state": {"repetitions": [1, 2, 2], "thresholds": [1.7976931348623157e+308, 9.0, 9.0], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.3000000015, 0.4000000025, 0.5000000035]}}', '2030-01-01 00:00:00+00', 'g', 'c3', '\xfdc752e6dc93163ad82599b824b816948452d5e7ffddf3049455d7f6236e3984', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000006', 6, 1, 'campaign 6', '{a,b,ü}', '{"name": "elimination", "schedule": {"name": "listed", "rounds": [[2, 0.5], [3, 0.1]]}, "discard_first": true}', 50, 60, 1000000000, 5000000000, '{"policy": {"name": "elimination", "schedule": {"name": "listed", "rounds": [[2, 0.5], [3, 0.1]]}, "discard_first": true}, "version": 1, "arms": 3, "horizon": 50, "state": {"repetitions": [1, 2, 3, 3, 3, 3, 3, 3, 3, 3], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.075000000375, 0.100000000625, 0.125000000875]}}', '2030-01-01 00:00:00+00', 'g', 'c6', '\xfde705fb430cd664688936c35798ef441e9f4ee6dfd9dffe2573691df7600759', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000007', 7, 1, 'campaign 7', '{a,b,ü}', '{"name": "handicap-elimination", "head_start": 2, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 17, "failure": 0.05, "expected_difference": null, "in_flight": 6}', 500, 60, 0, 1000000000, '{"policy": {"name": "handicap-elimination", "head_start": 2, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 17, "failure": 0.05, "expected_difference": null, "in_flight": 6}, "version": 2, "arms": 3, "horizon": 500, "state": {"nodes": [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": 3, "shortest": 2, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [8], "doubled": [6], "rounds": [3], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [0], "movers": [0, 1, 0], "moves": [4611686018427387904], "pulls": [14, 14, 8], "means": [0.300000003, 0.400000004, 0.500000005], "recent": [5.5], "sums": [1.6500000142499998, 2.20000001975, 2.7500000252500003], "squares": [0.498437508015625, 0.885156266046875, 1.375000026828125], "log_wealth": [-3.909945227867265, -3.4115745670835818, -2.830069487718088, -2.3141336496561697, -1.8492662238769138, -1.5368983895915436, -1.5512010532723568, -1.6982587140153453, -1.9488952268772983, -2.441076933916377, -3.1705803466561364, -4.122760165818706, -5.245564832984625, -6.368435996085488, -7.167290019226757, -7.558140404178451, -7.774505178058421, -7.953723787388908, -8.127631574963322, -8.300968809999231, -8.474258796713933, -8.64754574937891, -8.820832550588364, -8.994119345911017, -9.1674061410553, -9.340692936195365, -9.513979731335352, -9.687266526475339, -9.860553321615326, -10.03384011675531, -10.207126911895298, -10.380413707035284, -10.553700502175271, -10.726987297315256, -10.900274092455243, -11.07356088759523, -11.246847682735217, -11.420134477875202, -11.593421273015188, -11.766708068155175, -11.939994863295162, -12.113281658435149, -12.286568453575134, -12.45985524871512, -12.633142043855107, -12.806428838995094, -12.97971563413508, -13.153002429275066, -13.326289224415053, -3.9110432293311908, -3.934806076597326, -3.335750702541768, -2.682413396983502, -2.11549664971032, -1.728337056458645, -1.6210707736179764, -1.699356715479271, -1.949993228341224, -2.4421749353803026, -3.171678348120062, -4.1238581672826315, -5.246662834448551, -6.369533997549413, -7.168388020690682, -7.559238405642376, -7.775603179522347, -7.954821788852834, -8.128729576427249, -8.302066811463158, -8.47535679817786, -8.648643750842837, -8.82193055205229, -8.995217347374943, -9.168504142519227, -9.341790937659292, -9.515077732799279, -9.688364527939266, -9.861651323079252, -10.034938118219237, -10.208224913359224, -10.381511708499211, -10.554798503639198, -10.728085298779183, -10.90137209391917, -11.074658889059156, -11.247945684199143, -11.421232479339128, -11.594519274479115, -11.767806069619102, -11.941092864759089, -12.114379659899075, -12.28766645503906, -12.460953250179047, -12.634240045319034, -12.80752684045902, -12.980813635599004, -13.15410043073899, -13.327387225878978, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}}', '2030-01-01 00:00:00+00', 'g', 'c7', '\xea535402b798a273625d4d87e8c5cce29353a3c49781ab0d81a53b6be313e554', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-000000000009', 9, 1, 'campaign 9', '{a,b,ü}', '{"name": "handicap-elimination", "head_start": 2, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": null, "expected_difference": null, "in_flight": 12}', 500, 60, 1000000000, 5000000000, '{"policy": {"name": "handicap-elimination", "head_start": 2, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": null, "expected_difference": null, "in_flight": 12}, "version": 2, "arms": 3, "horizon": 500, "state": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 6.907755278982137, "horizon": 500.0, "order": 6, "shortest": 4, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738], "log_prior": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [2], "movers": [0, 1, 0], "moves": [9], "pulls": [4, 4, 4], "means": [0.075000001125, 0.100000001375, 0.125000001625], "recent": [4.0], "sums": [0.3000000045, 0.4000000055, 0.5000000065], "squares": [0.075000001125, 0.100000001375, 0.125000001625], "log_wealth": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745]}}', '2030-01-01 00:00:00+00', 'g', 'c9', '\xa56cd0ba257cbea33b05d9052880ae089176dbaf8a0a7a99d4d0de47bb950a21', NULL, NULL);
INSERT INTO affinity.campaigns OVERRIDING SYSTEM VALUE VALUES ('00000000-0000-0000-0000-00000000000b', 11, 1, 'campaign 11', '{a,b,ü}', '{"name": "handicap-elimination", "head_start": null, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": null, "expected_difference": null, "in_flight": 12, "judges": "members"}', 500, 60, 0, 1000000000, '{"policy": {"name": "handicap-elimination", "head_start": null, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": null, "expected_difference": null, "in_flight": 12, "judges": "members"}, "version": 2, "arms": 3, "horizon": 500, "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 6.907755278982137, "horizon": 500.0, "order": 6, "shortest": 4, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738], "log_prior": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745], "fewest": [3, 1, 2], "most": [3, 1, 2], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [4, 4, 4], "means": [0.3000000045, 0.40000000550000003, 0.5000000065], "recent": [4.0], "sums": [1.200000018, 1.6000000220000001, 2.000000026], "squares": [0.40000001350000003, 0.7000000165, 1.0000000325], "log_wealth": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745]}, "judges": [3, 1, 2], "first": [3, 1, 2]}}', '2030-01-01 00:00:00+00', 'g', 'c11', '\xa101eded397479e0eca96dd89cdbee9a32e64ae05184d7f10309749ea40345fd', '{3,1,2}', NULL);

--
-- Data for Name: due; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.due VALUES ('00000000-0000-0000-0000-000000000008');
INSERT INTO affinity.due VALUES ('00000000-0000-0000-0000-000000000005');

--
-- Data for Name: events_0; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_1; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_10; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_11; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_12; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_12 VALUES ('00000000-0000-0000-0000-000000000002', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 2", "arms": ["a", "b", "\u00fc"], "policy": {"name": "explore-then-commit", "pulls_per_arm": 2}, "horizon": 50, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [2], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '\x0a60848e2e6766549765fbf7f9f64e74f2a740ea8c7165707a6e9a45fc7c6990');
INSERT INTO affinity.events_12 VALUES ('00000000-0000-0000-0000-000000000002', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-12', NULL, 0, 6, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x91c4068ae4d586cc33fa05f127d20d687ec05ee98a37e19376728e5a7219f8b0');
INSERT INTO affinity.events_12 VALUES ('00000000-0000-0000-0000-000000000002', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-13', '\xcbcfd4f0401a65005b784f99dc17f71d5f72f8f907f745f028042bbc7fab602d', 0, NULL, NULL, NULL, 2, '{0,1,2,3,4,5}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005}', 6, 0, 0, NULL, '\x9ae857d37a73b432569e06045eb4fe5f1bbe5b0c8963f510436ed5243f6ffc19');
INSERT INTO affinity.events_12 VALUES ('00000000-0000-0000-0000-000000000002', 4, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 2, "size": 6, "counts": [2, 2, 2], "sums": ["600000003", "800000005", "1000000007"], "dropped": [0, 1], "state": {"repetitions": [2], "keep": [1], "cumulative": 0, "phase": [1], "left": [1], "active": [2, 1, 2], "dropped_in": [1, 1, 0], "pulls": [2, 2, 2], "sums": [0.600000003, 0.800000005, 1.000000007], "means": [0.3000000015, 0.4000000025, 0.5000000035]}, "next": {"arms": [2], "repetitions": 4611686018427387904, "size": 4611686018427387904, "final": true}}', '\x13409543be6729541db007bc581eb74e051c921a3d6aed422da4644a3de06943');
INSERT INTO affinity.events_12 VALUES ('00000000-0000-0000-0000-000000000002', 5, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-16', NULL, 1, 6, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xcfc25691a5fb322a72dddce1b4450a8001ecbf28d29f8e9be5769959416106e2');
INSERT INTO affinity.events_12 VALUES ('00000000-0000-0000-0000-000000000002', 6, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-17', '\x547b216d0c7fbe794215c4a7350fa66a1babbcd6c35aebe93e593f13929937dd', 1, NULL, NULL, NULL, 5, '{0,1,2,3,4,5}', NULL, '{500000000,500000001,500000002,500000003,500000004,500000005}', 6, 0, 0, NULL, '\x3f05a1f942df4b82c80e01d44d854178a0ac51c6b9797fdb2e9771dd7dec6ae3');

--
-- Data for Name: events_13; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 1", "arms": ["a", "b", "\u00fc"], "policy": {"name": "elimination", "schedule": {"name": "listed", "rounds": [[4, 0.5], [6, 0.1]]}, "discard_first": true}, "horizon": 200, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [1, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.0, 0.0, 0.0]}}', '\x05166d651acf48caf036cba9c38ddfe2170f2b2d41de60c48213588774117ca7');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000008', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 8", "arms": ["a", "b", "\u00fc"], "policy": {"name": "explore-then-commit", "pulls_per_arm": 3}, "horizon": 50, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [3], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '\xa1e7861e25d99ca9586e94df428bf4bfb7f17cf1a39b37c1a3bab3a38313ceb0');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-0', NULL, 0, 3, '{[0,3)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xa3fe0a31d6990a51caa7ed2bdbea6b63a996e8b6ad6d4741e873a57f77ce8fb4');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-1', '\x52433e8a3e57bd543c9b0261368e12002d19c8d70b44aa9e0c936a28e7b44452', 0, NULL, NULL, NULL, 2, '{0,1,2}', NULL, '{300000000,400000001,500000002}', 3, 0, 0, NULL, '\x3ab85a5358cd7e6fc4547ba1520f4d9c5b05a1ff58293726285c123032d4ecab');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 4, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 1, "size": 3, "counts": [1, 1, 1], "sums": ["300000000", "400000001", "500000002"], "dropped": [], "state": {"repetitions": [1, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.3, 0.400000001, 0.500000002]}, "next": {"arms": [0, 1, 2], "repetitions": 4, "size": 12, "final": false}}', '\x8f5aae1969b7607ff114ecffa8943dc25b7085b13a5781de1a84ecaf0616011c');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 5, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-2', NULL, 1, 6, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x9cf69993a9ba07916f2e01a9731a014df5b806b40b7d0e9a97a940f549c98ca4');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 6, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-3', NULL, 1, 6, '{[6,12)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xf0451590f82bbb1ecc59350407ca5b5c12c0665e4484d74fb4aba4123709eea5');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 7, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-4', '\x53c0c19a3e8cf86ac0c3f0c508dc0a0a462f935c0e0c4552b6a98ca57c2d777f', 1, NULL, NULL, NULL, 5, '{0,2}', '{2,1}', '{1000000000,300000000}', 3, 0, 0, NULL, '\xcbb2f7bc64039c7760eee68ce0a216ff63cc5ac921fe9feeccacf5d54632f9d4');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 8, '2030-01-01 00:02:00+00', 'ask', 'g', 'key-5', NULL, 1, 100, '{[1,2),[4,12)}', '2030-01-01 00:03:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xb5b82ed24a5f7eaac5ffe72c321e059616f9f20a83f46a3e6f2137d6143a574f');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 9, '2030-01-01 00:02:00+00', 'tell', 'g', 'key-6', '\x991cafd9b3f9c27c9e42973d6e2113de0a36ff980690a90c29c5d852b01dafbc', 1, NULL, NULL, NULL, 6, '{6,7,8,9,10,11}', NULL, '{300000006,400000007,500000008,300000009,400000010,500000011}', 6, 0, 0, NULL, '\x726cbcf888b6a26eb4d1a5f8f6a2a7c3b4603462fd012aa27351e55d92a67ca3');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 10, '2030-01-01 00:02:00+00', 'tell', 'g', 'key-7', '\x340949cb24158ca0a8ebe11223c45c60b8b441137e01ebf010fa9c8a2f8a34ec', 1, NULL, NULL, NULL, 8, '{1,4,5,6,7,8,9,10,11}', NULL, '{400000001,400000004,500000005,300000006,400000007,500000008,300000009,400000010,500000011}', 3, 0, 6, NULL, '\x6a11e5a71cfb38bd398073e9f076d972c3e09af0148b16e1993d7e59b8ea6f32');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 11, '2030-01-01 00:02:00+00', 'close', 'service', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 4, "size": 12, "counts": [4, 4, 4], "sums": ["1600000015", "1600000022", "1800000024"], "dropped": [], "state": {"repetitions": [1, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.40000000375, 0.4000000055, 0.450000006]}, "next": {"arms": [0, 1, 2], "repetitions": 6, "size": 18, "final": false}}', '\x7d45f918bc174644696ced040463aafcb28c42f64326b6e071d5d5c36f7f9781');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 12, '2030-01-01 00:02:00+00', 'ask', 'g', 'key-8', NULL, 2, 5, '{[0,5)}', '2030-01-01 00:03:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x2478dee858c43ce469ddede4f5177b787834c64b07df11f293e678a59081e527');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 13, '2030-01-01 00:02:00+00', 'tell', 'g', 'key-9', '\x947a3f6d855ed4b5a0e95aff8b79608b9f12f73cda79adec7db3d361f8b6f5a1', 2, NULL, NULL, NULL, 12, '{0,1,2,3,4}', NULL, '{300000000,400000001,500000002,300000003,400000004}', 5, 0, 0, NULL, '\x379d7614e701970ead8e5856e12c35d5f2cf68bf38bf1026e2d27bea9b44cbd2');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 14, '2030-01-01 00:02:00+00', 'ask', 'g', 'key-10', NULL, 2, 4, '{[5,9)}', '2030-01-01 00:03:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xf242a3012760c05e82369c1f84e4604415b0fb6bc09328fae29ab5dbdb2a4e96');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000001', 15, '2030-01-01 00:02:30+00', 'ask', 'g', 'key-11', NULL, 2, 2, '{[9,11)}', '2030-01-01 00:03:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xdb43a11fcdf7e4b462bbb8d085fcfa2abd9fde2ed0ea2bdb9a8dec76fb13332c');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000008', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-62', NULL, 0, 9, '{[0,9)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xcf697c720f22e3f2b5fabc0d85b81ec959526845b4100473c3a817d292e46381');
INSERT INTO affinity.events_13 VALUES ('00000000-0000-0000-0000-000000000008', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-63', '\xe5bff8a06cceb16713ff6503ab00281410ae6121f27ee44d99851a0caee5dd2f', 0, NULL, NULL, NULL, 2, '{0,1,2,3,4,5,6,7,8}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005,300000006,400000007,500000008}', 9, 0, 0, NULL, '\x8e021bf7fb036c105ce2c259a24dfbdddb809be3faeeefce739db09d91753e77');

--
-- Data for Name: events_14; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_15; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000004', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 4", "arms": ["a", "b", "\u00fc"], "policy": {"name": "explore-then-commit", "pulls_per_arm": 3}, "horizon": 50, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [3], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '\xe4fb85c62c7166d93139fc55dc6da9d23fd44653b7c39ce3adf918db8588b77f');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 6", "arms": ["a", "b", "\u00fc"], "policy": {"name": "elimination", "schedule": {"name": "listed", "rounds": [[2, 0.5], [3, 0.1]]}, "discard_first": true}, "horizon": 50, "lease_seconds": 60.0, "lowest": 1.0, "highest": 5.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [1, 2, 3, 3, 3, 3, 3, 3, 3, 3], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.0, 0.0, 0.0]}}', '\xe2b9efc0ec2d24f31a4b22eb256001cc8e3ce9b1052bbd1ad4378149c2726134');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000009', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 9", "arms": ["a", "b", "\u00fc"], "policy": {"name": "handicap-elimination", "head_start": 2, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": null, "expected_difference": null, "in_flight": 12}, "horizon": 500, "lease_seconds": 60.0, "lowest": 1.0, "highest": 5.0}, "version": "0.2.0", "in_flight": 12, "tellers": null, "state": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 6.907755278982137, "horizon": 500.0, "order": 6, "shortest": 4, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738], "log_prior": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [0], "doubled": [1], "rounds": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [-1], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [0, 0, 0], "means": [0.0, 0.0, 0.0], "recent": [0.0], "sums": [0.0, 0.0, 0.0], "squares": [0.0, 0.0, 0.0], "log_wealth": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745]}}', '\x972aaf7724ac7057ef3315661018225f7023c149d186461f90e2edd8b31fb3b7');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000004', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-20', NULL, 0, 4, '{[0,4)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x84bc1adcfebb204d997330863595a3c4494c63e73b94108df233c350b1a997d6');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000004', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-21', '\xdef59fa02a7a287633089e2efce5a71578907c61389c3452ab5745958b346c02', 0, NULL, NULL, NULL, 2, '{0,1,2,3}', NULL, '{300000000,400000001,500000002,300000003}', 4, 0, 0, NULL, '\x3de4fb781b62c1c675878a7fb53ef26d53211b2ddc77b03521d33da2fc45510f');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000004', 4, '2030-01-01 00:00:00+00', 'stop', 'g', 'stop', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"status": "open"}', '\xc1f8804a4753e002f38543f2db99d02c66f6c0a72ce8f8d8de77a565d72558ba');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-22', NULL, 0, 6, '{[0,3)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x68d23744879a2aee135d56f994df5236130ba502da3390b18f13a85d89a76017');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-23', '\x621bf0af69942248780b88b0fd0614de47037d6bfb646bbbee35ca1c47690d0a', 0, NULL, NULL, NULL, 2, '{0,1,2}', NULL, '{1300000000,1400000001,1500000002}', 3, 0, 0, NULL, '\x10dd5aba7b75f948ad44afe7336c55ae05981dbeed5bf685811dedf515c7448e');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 4, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 1, "size": 3, "counts": [1, 1, 1], "sums": ["1300000000", "1400000001", "1500000002"], "dropped": [], "state": {"repetitions": [1, 2, 3, 3, 3, 3, 3, 3, 3, 3], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.075, 0.10000000025, 0.1250000005]}, "next": {"arms": [0, 1, 2], "repetitions": 2, "size": 6, "final": false}}', '\xb2a082324c208296a593e7f4d51ad11cb29b2a0a33883dc99009ad81b9c721f2');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 5, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-24', NULL, 1, 6, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x57d9b9e716cba21e373c6b6c1da068a48903ec4725abc7ba7cab8282878d185d');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 6, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-25', '\xc794fc8fdaa5cb6d1810cc62a909c0025e5c89122baa044be5036315d5a151a6', 1, NULL, NULL, NULL, 5, '{0,1,2,3,4,5}', NULL, '{1300000000,1400000001,1500000002,1300000003,1400000004,1500000005}', 6, 0, 0, NULL, '\x0b9f8ed197d01116b01fba600bc9ef9f8851593f43867b65ca4a478b6c125068');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 7, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 2, "size": 6, "counts": [2, 2, 2], "sums": ["2600000003", "2800000005", "3000000007"], "dropped": [], "state": {"repetitions": [1, 2, 3, 3, 3, 3, 3, 3, 3, 3], "thresholds": [1.7976931348623157e+308, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.075000000375, 0.100000000625, 0.125000000875]}, "next": {"arms": [0, 1, 2], "repetitions": 3, "size": 9, "final": false}}', '\xf6b6946af0251d38a025daba94121e7dae7d3a19c5c65e120b64a1132892af58');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 8, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-26', NULL, 2, 6, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xe7e5561be3c2dcbcd54022cf84e28db7f741390163db3b86b33052eec66bfd18');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000006', 9, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-27', '\x481b875edcc44931474068b529d0acd8502e42d9cad3f7a2be167802cf648218', 2, NULL, NULL, NULL, 8, '{0,1,2,3,4,5}', NULL, '{1300000000,1400000001,1500000002,1300000003,1400000004,1500000005}', 6, 0, 0, NULL, '\xa440e7d33cfbdffd133f7f96b46d94115a81037fc585344556dc7f04fb023ff2');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000009', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-45', NULL, 0, 12, '{[0,12)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xa0b37422837a1b498cb88f7542adf4b6004925a0cd868dd4147d9ab2624312c8');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000009', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-46', '\x593036a1a5b4b0f6df3243d8890f21681161a5b7833ba3a012ba8d0c582f7769', 0, NULL, NULL, NULL, 2, '{0,1,2,3,4,5,6,7,8,9,10,11}', NULL, '{1300000000,1400000001,1500000002,1300000003,1400000004,1500000005,1300000006,1400000007,1500000008,1300000009,1400000010,1500000011}', 12, 0, 0, NULL, '\xf97b0c4632961fe8c5bbffa4d981d616adf65997cd62c7250baec4a77d0f5a16');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000009', 4, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 4, "size": 12, "counts": [4, 4, 4], "sums": ["5200000018", "5600000022", "6000000026"], "tallies": [["11199999928", "4800000072", "0", "0", "0"], ["9599999912", "6400000088", "0", "0", "0"], ["7999999896", "8000000104", "0", "0", "0"]], "dropped": [], "state": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 6.907755278982137, "horizon": 500.0, "order": 6, "shortest": 4, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738], "log_prior": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [2], "movers": [0, 1, 0], "moves": [9], "pulls": [4, 4, 4], "means": [0.075000001125, 0.100000001375, 0.125000001625], "recent": [4.0], "sums": [0.3000000045, 0.4000000055, 0.5000000065], "squares": [0.075000001125, 0.100000001375, 0.125000001625], "log_wealth": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745]}, "next": {"arms": [0, 1], "repetitions": 9, "size": 18, "final": false}}', '\x19ffdd9fd9e71a4bd0c994c98644427850780bfbb057da626a738e16f6bf8448');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000009', 5, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-47', NULL, 1, 3, '{[0,3)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x162e9df0f11e205de1ba70ab3025e1f8efe75001270cb29cb3a130871f6339e3');
INSERT INTO affinity.events_15 VALUES ('00000000-0000-0000-0000-000000000009', 6, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-48', '\xffef9f15695a30bd6bc2623f7cd7599a7ff4ba24b4a9260294dda579d56f7318', 1, NULL, NULL, NULL, 5, '{0,1,0}', '{1,1,1}', '{3000000000,4123456789,1000000000}', 3, 0, 0, NULL, '\x965a13aae84a80f6dd59b8678edab035d0ad94e391faf4b14506fdf750a2ca77');

--
-- Data for Name: events_2; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_3; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_4; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_4 VALUES ('00000000-0000-0000-0000-000000000005', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 5", "arms": ["a", "b", "\u00fc"], "policy": {"name": "explore-then-commit", "pulls_per_arm": 3}, "horizon": 50, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [3], "keep": [1], "cumulative": 0, "phase": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "pulls": [0, 0, 0], "sums": [0.0, 0.0, 0.0], "means": [0.0, 0.0, 0.0]}}', '\xaed4a295602019963adbecfe20bd494a60689cdeae1bc0409ca372dbac9d24c4');
INSERT INTO affinity.events_4 VALUES ('00000000-0000-0000-0000-000000000005', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-64', NULL, 0, 9, '{[0,9)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x73f58bc98b57e0eeba34848d00761b9c4a4332e692071c6653d0365e0b96de17');
INSERT INTO affinity.events_4 VALUES ('00000000-0000-0000-0000-000000000005', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-65', '\xe5bff8a06cceb16713ff6503ab00281410ae6121f27ee44d99851a0caee5dd2f', 0, NULL, NULL, NULL, 2, '{0,1,2,3,4,5,6,7,8}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005,300000006,400000007,500000008}', 9, 0, 0, NULL, '\xa7a3b9af5849cdb1dcbebf19a4ff7b3ce31756284f374b3a497ddd277e7675fb');

--
-- Data for Name: events_5; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 3", "arms": ["a", "b", "\u00fc"], "policy": {"name": "elimination", "schedule": {"name": "listed", "rounds": [[2, 9.0]]}, "discard_first": false}, "horizon": 7, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"repetitions": [1, 2, 2], "thresholds": [1.7976931348623157e+308, 9.0, 9.0], "round": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.0, 0.0, 0.0]}}', '\x088b6ae4300e40d1dc210b203c11773d504bc7b8a187eb6062e70af201e61e1e');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 10", "arms": ["a", "b", "\u00fc"], "policy": {"name": "handicap-elimination", "head_start": null, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": 0.05, "expected_difference": null, "in_flight": null, "judges": "panel"}, "horizon": 500, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": null, "tellers": null, "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": -1, "shortest": 1, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [0, 0, 0], "passes": [0], "doubled": [1], "rounds": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [-1], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [0, 0, 0], "means": [0.0, 0.0, 0.0], "recent": [0.0], "sums": [0.0, 0.0, 0.0], "squares": [0.0, 0.0, 0.0], "log_wealth": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}, "judges": [0, 0, 0], "first": [-1, -1, -1]}}', '\x8c588c4541a7e2c76259fe925cbc5060bba662dbd3c883aa2f4dea87e63df2ca');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-14', NULL, 0, 6, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x7e24318e415ec0b412db7ad84b2044292e3d23dbdf99c92ee438474e252828b7');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-15', '\xcbcfd4f0401a65005b784f99dc17f71d5f72f8f907f745f028042bbc7fab602d', 0, NULL, NULL, NULL, 2, '{0,1,2,3,4,5}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005}', 6, 0, 0, NULL, '\x9c7a83125ed51f03490a7296f8b3d4735b523764568fb05582cb76c2da679b2c');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 4, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 2, "size": 6, "counts": [2, 2, 2], "sums": ["600000003", "800000005", "1000000007"], "dropped": [], "state": {"repetitions": [1, 2, 2], "thresholds": [1.7976931348623157e+308, 9.0, 9.0], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.3000000015, 0.4000000025, 0.5000000035]}, "next": {"arms": [0, 1, 2], "repetitions": 2, "size": 1, "final": false}}', '\x488cea8d68c0dc43773e4c60bcf93dc68e0008e69fbbe757fabaf0e36c48bd95');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 5, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-18', NULL, 1, 6, '{[0,1)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xcb1d67e32d9e72c6e33e082989ed8d068275ad365ad258897dff7bafee1e99e1');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 6, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-19', '\x6d7e9b6e8376f019213ea6d4758541a89b5f533a8925fb9fcab4b8a6dba200c1', 1, NULL, NULL, NULL, 5, '{0}', NULL, '{300000000}', 1, 0, 0, NULL, '\xdb0dc6883e4c60e6972875d84f3b924bf2c92294e0f39b20645bc50937fdfdb1');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-000000000003', 7, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 2, "size": 1, "counts": [1, 0, 0], "sums": ["300000000", "0", "0"], "dropped": [], "state": {"repetitions": [1, 2, 2], "thresholds": [1.7976931348623157e+308, 9.0, 9.0], "round": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "means": [0.3000000015, 0.4000000025, 0.5000000035]}, "next": null}', '\x53be4aab4e06ea92eb244049ed0b8544d198c3bd387d74b1053c733a76b5da07');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 2, '2030-01-01 00:00:00+00', 'judges', 'g', 'key-50', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"judges": [1, 2, 2], "outsiders": 1, "standing": true, "asked": null, "round": 0, "named": null, "opened": {"arms": [0, 1, 2], "repetitions": 4, "size": 12, "final": false}}', '\x989cdca0532278c685bc6e287031c89e7cd3ce9af5a0194a2d6bc6f63d40f020');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 3, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-51', NULL, 0, 100, '{[0,12)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x059e52179f2f132f4c9eabc480cbfee5488c8df9083ff2e22e6550e470442b95');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 4, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-52', '\x2aec8c54a733635136991d3f1e510d86c2087f0caa0157108dbde3f2cd7530f7', 0, NULL, NULL, NULL, 3, '{0,1,2,3,4,5,6,7,8,9,10,11}', NULL, '{900000000,500000000,100000000,900000000,500000000,100000000,900000000,500000000,100000000,900000000,500000000,100000000}', 12, 0, 0, '{"raters": ["r0", "r1", "r2", "r3", "r0", "r1", "r2", "r3", "r0", "r1", "r2", "r3"], "rater_arms": [null, 1, 2, 0, 1, null, 0, 1, 2, 0, null, 2]}', '\x0f6e696160ecbb9a7c9b3aaaaa40fd96a42061cf8028e542cbc3130401fa6031');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 5, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 4, "size": 12, "counts": [4, 4, 4], "sums": ["3600000000", "2000000000", "400000000"], "tallies": [["0", "0", "0", "1600000000", "2400000000"], ["0", "0", "4000000000", "0", "0"], ["2400000000", "1600000000", "0", "0", "0"]], "dropped": [], "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": -1, "shortest": 1, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [0, 0, 0], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [0], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [4, 4, 4], "means": [0.9, 0.5, 0.1], "recent": [4.0], "sums": [3.6, 2.0, 0.4], "squares": [3.3, 1.0, 0.1], "log_wealth": [-3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}, "judges": [1, 2, 2], "first": [-1, -1, -1]}, "next": {"arms": [0, 1, 2], "repetitions": 0, "size": 0, "final": false}, "fewest_seats": 0}', '\x84a484223bab3bbd44daac9920e5c3e03327887e1b3020b2cffb0e1d8d76aa2e');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 6, '2030-01-01 00:00:00+00', 'judges', 'service', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"judges": [1, 2, 2], "outsiders": 1, "standing": true, "round": 1, "named": 2, "opened": {"arms": [0, 1, 2], "repetitions": 1, "size": 3, "final": false}}', '\xb04d9feee3d72c5f07810aefced2e03741434a8f58b50c806205154a8d354b34');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 7, '2030-01-01 00:00:00+00', 'judges', 'g', 'key-53', NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"judges": [0, 2, 1], "outsiders": 0, "standing": false, "asked": 2, "round": 2, "named": null, "opened": null}', '\x6604eb4d5cee5c3f0cf3c1673d717822cd30be67de5112fbbdb4ce614cc318c8');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 8, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-54', NULL, 1, 100, '{[0,3)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xcb50447b56a220f247c5965611f0fabd4f4dcc4510f3d1d6d5710b0778fe0f02');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 9, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-55', '\x4d3f9e27b687c3865703f5f9456e67294b60db631ecf2d74e70d08813ecf206e', 1, NULL, NULL, NULL, 8, '{0,1,2}', NULL, '{300000000,400000001,500000002}', 3, 0, 0, NULL, '\x4de9d1fcf3fcd195df80923ddd44a21cc208878ed346a28e033124247b54ad6f');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 10, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 1, "size": 3, "counts": [1, 1, 1], "sums": ["300000000", "400000001", "500000002"], "tallies": [["0", "800000000", "200000000", "0", "0"], ["0", "399999996", "600000004", "0", "0"], ["0", "0", "999999992", "8", "0"]], "dropped": [], "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": -1, "shortest": 1, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [0, 0, 0], "passes": [5], "doubled": [5], "rounds": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [0], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [5, 5, 5], "means": [0.78, 0.4800000002, 0.18000000040000003], "recent": [4.2], "sums": [3.1800000000000006, 2.000000001, 0.8200000020000001], "squares": [2.74, 0.97500000075, 0.3300000025], "log_wealth": [-3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9128245518326605, -4.955330798416792, -4.254873371853265, -3.274214034181297, -2.5114242938195943, -1.9986726076891135, -1.692778419430037, -1.7011380379807406, -1.9517745508426936, -2.4439562578817724, -3.173459670621532, -4.125639489784101, -5.24844415695002, -6.371315320050883, -7.170169343192152, -7.561019728143846, -7.777384502023816, -7.956603111354303, -8.130510898928717, -8.303848133964626, -8.477138120679328, -8.650425073344305, -8.823711874553759, -8.996998669876412, -9.170285465020696, -9.34357226016076, -9.516859055300747, -9.690145850440734, -9.86343264558072, -10.036719440720706, -10.210006235860693, -10.38329303100068, -10.556579826140666, -10.729866621280651, -10.903153416420638, -11.076440211560625, -11.249727006700612, -11.423013801840597, -11.596300596980583, -11.76958739212057, -11.942874187260557, -12.116160982400544, -12.289447777540529, -12.462734572680516, -12.636021367820502, -12.80930816296049, -12.982594958100474, -13.155881753240461, -13.329168548380448, -3.912975864280665, -5.037877650833066, -4.2154308859435305, -3.2936149141867226, -2.5437630653441916, -2.0298416048424492, -1.692929731878042, -1.7012893504287456, -1.9519258632906986, -2.444107570329777, -3.1736109830695365, -4.125790802232106, -5.248595469398025, -6.371466632498888, -7.170320655640157, -7.561171040591851, -7.777535814471821, -7.956754423802308, -8.130662211376723, -8.303999446412632, -8.477289433127334, -8.650576385792311, -8.823863187001765, -8.997149982324418, -9.170436777468701, -9.343723572608766, -9.517010367748753, -9.69029716288874, -9.863583958028727, -10.036870753168712, -10.210157548308699, -10.383444343448685, -10.556731138588672, -10.730017933728657, -10.903304728868644, -11.07659152400863, -11.249878319148618, -11.423165114288603, -11.59645190942859, -11.769738704568576, -11.943025499708563, -12.11631229484855, -12.289599089988535, -12.462885885128522, -12.636172680268508, -12.809459475408495, -12.98274627054848, -13.156033065688467, -13.329319860828454]}, "judges": [1, 2, 2], "first": [-1, -1, -1]}, "next": {"arms": [0, 1, 2], "repetitions": 0, "size": 0, "final": false}, "fewest_seats": 0}', '\xb57c0c2e82e1ab8cea45d2c12cc5bff5403cc925ee1da4f2a58e871cf392f8dc');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 11, '2030-01-01 00:00:00+00', 'judges', 'service', NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"judges": [0, 2, 1], "outsiders": 0, "standing": false, "round": 2, "named": 7, "opened": {"arms": [0, 1, 2], "repetitions": 1, "size": 3, "final": false}}', '\xec16fb942f64b33e13d266a654116b0a01660b1a5d5a5654f36f2cf2ea58c3dc');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 12, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-56', NULL, 2, 100, '{[0,3)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x36ef8230092c3f0e9c7617e23cf3d5dd2cf0dcf00c07a536de9dedd3ee5ec992');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 13, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-57', '\x02a6fa2c45f27a64d0a247fb81056d8b7e513c13c7271ba7fd67f5953014e9ea', 2, NULL, NULL, NULL, 12, '{0,1,2}', NULL, '{300000000,400000001,500000002}', 3, 0, 0, NULL, '\x85e39f1b7e741c8e4590787020435197b537dc49ae1f469e76ee2a669ebf7ad6');
INSERT INTO affinity.events_5 VALUES ('00000000-0000-0000-0000-00000000000a', 14, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 1, "size": 3, "counts": [1, 1, 1], "sums": ["300000000", "400000001", "500000002"], "tallies": [["0", "800000000", "200000000", "0", "0"], ["0", "399999996", "600000004", "0", "0"], ["0", "0", "999999992", "8", "0"]], "dropped": [], "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": -1, "shortest": 1, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [0, 0, 0], "passes": [6], "doubled": [5], "rounds": [3], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [0], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [6, 6, 6], "means": [0.7000000000000001, 0.466666667, 0.23333333400000003], "recent": [4.5], "sums": [2.950000000000001, 2.0666666685, 1.183333337], "squares": [2.3833333333333337, 0.987500001375, 0.5250000045833334], "log_wealth": [-3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9128245518326605, -5.319809524887568, -4.563049071720092, -3.4504882929567313, -2.6184895897642266, -2.0663561436801383, -1.7368300083644441, -1.7304413382402977, -1.9517745508426936, -2.4439562578817724, -3.173459670621532, -4.125639489784101, -5.24844415695002, -6.371315320050883, -7.170169343192152, -7.561019728143846, -7.777384502023816, -7.956603111354303, -8.130510898928717, -8.303848133964626, -8.477138120679328, -8.650425073344305, -8.823711874553759, -8.996998669876412, -9.170285465020696, -9.34357226016076, -9.516859055300747, -9.690145850440734, -9.86343264558072, -10.036719440720706, -10.210006235860693, -10.38329303100068, -10.556579826140666, -10.729866621280651, -10.903153416420638, -11.076440211560625, -11.249727006700612, -11.423013801840597, -11.596300596980583, -11.76958739212057, -11.942874187260557, -12.116160982400544, -12.289447777540529, -12.462734572680516, -12.636021367820502, -12.80930816296049, -12.982594958100474, -13.155881753240461, -13.329168548380448, -3.912975864280665, -5.480003965556761, -4.555264529092422, -3.5197991083743365, -2.697580557414704, -2.1358179948997074, -1.7665555178446455, -1.752722265670905, -1.9519258632906986, -2.444107570329777, -3.1736109830695365, -4.125790802232106, -5.248595469398025, -6.371466632498888, -7.170320655640157, -7.561171040591851, -7.777535814471821, -7.956754423802308, -8.130662211376723, -8.303999446412632, -8.477289433127334, -8.650576385792311, -8.823863187001765, -8.997149982324418, -9.170436777468701, -9.343723572608766, -9.517010367748753, -9.69029716288874, -9.863583958028727, -10.036870753168712, -10.210157548308699, -10.383444343448685, -10.556731138588672, -10.730017933728657, -10.903304728868644, -11.07659152400863, -11.249878319148618, -11.423165114288603, -11.59645190942859, -11.769738704568576, -11.943025499708563, -12.11631229484855, -12.289599089988535, -12.462885885128522, -12.636172680268508, -12.809459475408495, -12.98274627054848, -13.156033065688467, -13.329319860828454]}, "judges": [0, 2, 1], "first": [-1, -1, -1]}, "next": {"arms": [0, 1, 2], "repetitions": 0, "size": 0, "final": false}, "fewest_seats": 0}', '\xadd07571a24f83a72bb6cf634afe7e145282091f020f0327eb87f17043522a75');

--
-- Data for Name: events_6; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_6 VALUES ('00000000-0000-0000-0000-00000000000b', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 11", "arms": ["a", "b", "\u00fc"], "policy": {"name": "handicap-elimination", "head_start": null, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 5, "failure": null, "expected_difference": null, "in_flight": 12, "judges": "members"}, "horizon": 500, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0, "committee": [3, 1, 2]}, "version": "0.2.0", "in_flight": 12, "tellers": null, "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 6.907755278982137, "horizon": 500.0, "order": 6, "shortest": 4, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738], "log_prior": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745], "fewest": [0, 0, 0], "most": [0, 0, 0], "passes": [0], "doubled": [1], "rounds": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [-1], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [0, 0, 0], "means": [0.0, 0.0, 0.0], "recent": [0.0], "sums": [0.0, 0.0, 0.0], "squares": [0.0, 0.0, 0.0], "log_wealth": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745]}, "judges": [0, 0, 0], "first": [-1, -1, -1]}}', '\xbe8b2257dc1e91355b1fc02e3b798d349ac40e966ad499a21293b7fc5d4a0adb');
INSERT INTO affinity.events_6 VALUES ('00000000-0000-0000-0000-00000000000b', 2, '2030-01-01 00:00:00+00', 'judges', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"judges": [3, 1, 2], "outsiders": 0, "standing": false, "round": 0, "named": 1, "opened": {"arms": [0, 1, 2], "repetitions": 4, "size": 12, "final": false}}', '\xca221174474273d6445f840d23471eb199a72746096b7f9f7cfd285546d07cc2');
INSERT INTO affinity.events_6 VALUES ('00000000-0000-0000-0000-00000000000b', 3, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-59', NULL, 0, 12, '{[0,12)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x044219c251b4cb066bd245ac2f11958d8780eeea5ed01354d9962755b68fcaba');
INSERT INTO affinity.events_6 VALUES ('00000000-0000-0000-0000-00000000000b', 4, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-60', '\xb1a13da155b21b9cd125c8a281f23dbcb547ccec37da091060e8f70e1d4093e0', 0, NULL, NULL, NULL, 3, '{0,1,2,3,4,5,6,7,8,9,10,11}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005,300000006,400000007,500000008,300000009,400000010,500000011}', 12, 0, 0, NULL, '\x3d6f296a0f15269e1304d52b1d6e23c73558ff5a772715a02b8fa11d0b907f46');
INSERT INTO affinity.events_6 VALUES ('00000000-0000-0000-0000-00000000000b', 5, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 4, "size": 12, "counts": [4, 4, 4], "sums": ["1200000018", "1600000022", "2000000026"], "tallies": [["0", "3199999928", "800000072", "0", "0"], ["0", "1599999912", "2400000088", "0", "0"], ["0", "0", "3999999896", "104", "0"]], "dropped": [], "state": {"bets": {"nodes": [0.0, 0.25, 0.5, 0.75, 1.0], "variance": 0.0, "log_threshold": 6.907755278982137, "horizon": 500.0, "order": 6, "shortest": 4, "widest": 0, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738], "log_prior": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745], "fewest": [3, 1, 2], "most": [3, 1, 2], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [4, 4, 4], "means": [0.3000000045, 0.40000000550000003, 0.5000000065], "recent": [4.0], "sums": [1.200000018, 1.6000000220000001, 2.000000026], "squares": [0.40000001350000003, 0.7000000165, 1.0000000325], "log_wealth": [-3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -3.912023005428146, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745, -1.8119621765455745]}, "judges": [3, 1, 2], "first": [3, 1, 2]}, "next": {"arms": [0, 1, 2], "repetitions": 0, "size": 0, "final": false}}', '\xa5fa04e56907b2689ce8a9f397cfdb6521bdef4e4c7136029b5066b798260fb5');

--
-- Data for Name: events_7; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 1, '2030-01-01 00:00:00+00', 'create', 'g', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"description": {"name": "campaign 7", "arms": ["a", "b", "\u00fc"], "policy": {"name": "handicap-elimination", "head_start": 2, "initial_pulls": null, "sigma": 1.0, "bounded": true, "levels": 17, "failure": 0.05, "expected_difference": null, "in_flight": 6}, "horizon": 500, "lease_seconds": 60.0, "lowest": 0.0, "highest": 1.0}, "version": "0.2.0", "in_flight": 6, "tellers": null, "state": {"nodes": [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": 3, "shortest": 2, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [0], "doubled": [1], "rounds": [0], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [-1], "moving": [0], "movers": [0, 0, 0], "moves": [0], "pulls": [0, 0, 0], "means": [0.0, 0.0, 0.0], "recent": [0.0], "sums": [0.0, 0.0, 0.0], "squares": [0.0, 0.0, 0.0], "log_wealth": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}}', '\xe12d48357f3c3c09773579b4d94cb1f2b41d7dd923af97a139596faf79ec58d1');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 2, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-28', NULL, 0, 10, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xcd5c60f46392b5629ac92f2e6956126a0daa9802d6076ae74a69a322fdd32a0c');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 3, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-29', '\xcbcfd4f0401a65005b784f99dc17f71d5f72f8f907f745f028042bbc7fab602d', 0, NULL, NULL, NULL, 2, '{0,1,2,3,4,5}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005}', 6, 0, 0, NULL, '\x1776c053af4c42c296d7469a8b07c097fa8d76f18182a9d023bd961d89ad1c7d');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 4, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-30', NULL, 0, 10, '{[6,12)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x06e8c4478cec8afb464b0380000a8a5538b37224164901cc7571fc13988ada9b');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 5, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-31', '\xa9428cd2b6a79cfb861897c4f03fd2554fb9e23507d924edc2115089b1d52722', 0, NULL, NULL, NULL, 4, '{6,7,8,9,10,11}', NULL, '{300000006,400000007,500000008,300000009,400000010,500000011}', 6, 0, 0, NULL, '\x7f5f3d3a334388368be17c384850598ba85b002cd5d7284f6431db163cce27a9');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 6, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 4, "size": 12, "counts": [4, 4, 4], "sums": ["1200000018", "1600000022", "2000000026"], "tallies": [["0", "0", "0", "0", "799999712", "3200000288", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "2399999648", "1600000352", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "0", "0", "3999999584", "416", "0", "0", "0", "0", "0", "0", "0"]], "dropped": [], "state": {"nodes": [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": 3, "shortest": 2, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [2], "movers": [0, 1, 0], "moves": [6], "pulls": [4, 4, 4], "means": [0.3000000045, 0.40000000550000003, 0.5000000065], "recent": [4.0], "sums": [1.200000018, 1.6000000220000001, 2.000000026], "squares": [0.362500010125, 0.643750017875, 1.000000027625], "log_wealth": [-3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}, "next": {"arms": [0, 1], "repetitions": 6, "size": 12, "final": false}}', '\x1c25888bf11ba50147e7b993797531f723c7e6ccfd603500defaea99c095671e');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 7, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-32', NULL, 1, 10, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x3cdee617e7086ba267d0d1089b39e9e3c7810e6b3855876852f618f62f28f275');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 8, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-33', '\x5f0a33e28f18d4e5a335858775b5944e9042fa832b6a3841244615a8afcb700e', 1, NULL, NULL, NULL, 7, '{0,1,2,3,4,5}', NULL, '{300000000,400000001,300000002,400000003,300000004,400000005}', 6, 0, 0, NULL, '\xbf17477a41fd5a14bc2662a5b0281cb03f2354f63949ddac675e8c2a5f3d3b48');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 9, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-34', NULL, 1, 10, '{[6,12)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xf181d213791d6600e7a365573797488951730110e0b3f7935cb7ff810db78f5b');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 10, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-35', '\x58370e5bc1426ea8e49edc314c4bd06da5e3aa299d6aaa2957e3b32360325d76', 1, NULL, NULL, NULL, 9, '{6,7,8,9,10,11}', NULL, '{300000006,400000007,300000008,400000009,300000010,400000011}', 6, 0, 0, NULL, '\xeab52750869516abd14099dba4e6f258b4d7dca52dfeea8b0a7e0e3e15bb852d');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 11, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1], "repetitions": 6, "size": 12, "counts": [6, 6], "sums": ["1800000030", "2400000036"], "tallies": [["0", "0", "0", "0", "1199999520", "4800000480", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "3599999424", "2400000576", "0", "0", "0", "0", "0", "0", "0", "0", "0"]], "dropped": [], "state": {"nodes": [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": 3, "shortest": 2, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [4], "doubled": [1], "rounds": [1], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [0], "movers": [0, 1, 0], "moves": [4611686018427387904], "pulls": [10, 10, 4], "means": [0.3000000045, 0.40000000550000003, 0.5000000065], "recent": [4.0], "sums": [1.200000018, 1.6000000220000001, 2.000000026], "squares": [0.362500010125, 0.643750017875, 1.000000027625], "log_wealth": [-3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}, "next": {"arms": [0, 1, 2], "repetitions": 2, "size": 6, "final": false}}', '\xaf389aba979b968f42163fa4281c4e2422002ac8bd84a0c58d1b2c639bc005db');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 12, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-36', NULL, 2, 10, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x0a616987d175f4dd913e5ed049128b99a83bd4e6662aeea1f0e0f7088ec07528');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 13, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-37', '\x49238d56c0e5d31b0ca619945221f31cd20f6e2da4c2d1abc761366c880411b6', 2, NULL, NULL, NULL, 12, '{0,1,2,3,4,5}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005}', 6, 0, 0, NULL, '\x572c127e44fbbfa72a7d35d5b4cd5f5938d7747eef515fbb4f771b5eafdbff72');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 14, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 2, "size": 6, "counts": [2, 2, 2], "sums": ["600000003", "800000005", "1000000007"], "tallies": [["0", "0", "0", "0", "399999952", "1600000048", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "1199999920", "800000080", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "0", "0", "1999999888", "112", "0", "0", "0", "0", "0", "0", "0"]], "dropped": [], "state": {"nodes": [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": 3, "shortest": 2, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [6], "doubled": [6], "rounds": [2], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [0], "movers": [0, 1, 0], "moves": [4611686018427387904], "pulls": [12, 12, 6], "means": [0.3000000035, 0.4000000045, 0.5000000055], "recent": [4.666666666666666], "sums": [1.4000000149999998, 1.8666666863333334, 2.3333333576666666], "squares": [0.42291667510416664, 0.7510416826458333, 1.1666666925208333], "log_wealth": [-3.909945227867265, -3.9935992777223297, -3.355535048468512, -2.693407201459404, -2.121513508686015, -1.7315146705526563, -1.6898990954646418, -1.6982587140153453, -1.9488952268772983, -2.441076933916377, -3.1705803466561364, -4.122760165818706, -5.245564832984625, -6.368435996085488, -7.167290019226757, -7.558140404178451, -7.774505178058421, -7.953723787388908, -8.127631574963322, -8.300968809999231, -8.474258796713933, -8.64754574937891, -8.820832550588364, -8.994119345911017, -9.1674061410553, -9.340692936195365, -9.513979731335352, -9.687266526475339, -9.860553321615326, -10.03384011675531, -10.207126911895298, -10.380413707035284, -10.553700502175271, -10.726987297315256, -10.900274092455243, -11.07356088759523, -11.246847682735217, -11.420134477875202, -11.593421273015188, -11.766708068155175, -11.939994863295162, -12.113281658435149, -12.286568453575134, -12.45985524871512, -12.633142043855107, -12.806428838995094, -12.97971563413508, -13.153002429275066, -13.326289224415053, -3.9110432293311908, -4.254581814937503, -3.6066649055024413, -2.8763324214866137, -2.253834524919386, -1.826779657698772, -1.6909970969285675, -1.699356715479271, -1.949993228341224, -2.4421749353803026, -3.171678348120062, -4.1238581672826315, -5.246662834448551, -6.369533997549413, -7.168388020690682, -7.559238405642376, -7.775603179522347, -7.954821788852834, -8.128729576427249, -8.302066811463158, -8.47535679817786, -8.648643750842837, -8.82193055205229, -8.995217347374943, -9.168504142519227, -9.341790937659292, -9.515077732799279, -9.688364527939266, -9.861651323079252, -10.034938118219237, -10.208224913359224, -10.381511708499211, -10.554798503639198, -10.728085298779183, -10.90137209391917, -11.074658889059156, -11.247945684199143, -11.421232479339128, -11.594519274479115, -11.767806069619102, -11.941092864759089, -12.114379659899075, -12.28766645503906, -12.460953250179047, -12.634240045319034, -12.80752684045902, -12.980813635599004, -13.15410043073899, -13.327387225878978, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}, "next": {"arms": [0, 1, 2], "repetitions": 2, "size": 6, "final": false}}', '\xd79071ad5284344496d9eb8a861b76b65830f2a1c23e215778b4a3a3b4319416');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 15, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-38', NULL, 3, 10, '{[0,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\xa47bb7d2c55dcbf2dc0d4eb53e9467bebde06b7e316e08bdd617eb8c1c690765');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 16, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-39', '\x86d213b2b16372f85f766882384b1f7d4548a0caa0c6762c1c2f1ff3a44aad12', 3, NULL, NULL, NULL, 15, '{0,1,2,3,4,5}', NULL, '{300000000,400000001,500000002,300000003,400000004,500000005}', 6, 0, 0, NULL, '\xf8c0d2340440bfdc80ebe5bac1c0f7722fb9e17f787c7143751e80c1d072d45c');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 17, '2030-01-01 00:00:00+00', 'close', 'service', NULL, NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"arms": [0, 1, 2], "repetitions": 2, "size": 6, "counts": [2, 2, 2], "sums": ["600000003", "800000005", "1000000007"], "tallies": [["0", "0", "0", "0", "399999952", "1600000048", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "1199999920", "800000080", "0", "0", "0", "0", "0", "0", "0", "0", "0"], ["0", "0", "0", "0", "0", "0", "0", "0", "1999999888", "112", "0", "0", "0", "0", "0", "0", "0"]], "dropped": [], "state": {"nodes": [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0], "variance": 0.0, "log_threshold": 2.995732273553991, "horizon": 0.0, "order": 3, "shortest": 2, "widest": 2, "expected": 0.0, "stakes": [0.0, 2.0, 1.4142135623730951, 1.0, 0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125, 0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625, 0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625, 0.0027621358640099515, 0.001953125, 0.0013810679320049757, 0.0009765625, 0.0006905339660024879, 0.00048828125, 0.00034526698300124393, 0.000244140625, 0.00017263349150062197, 0.0001220703125, 8.631674575031098e-05, 6.103515625e-05, 4.315837287515549e-05, 3.0517578125e-05, 2.1579186437577746e-05, 1.52587890625e-05, 1.0789593218788873e-05, 7.62939453125e-06, 5.3947966093944364e-06, 3.814697265625e-06, 2.6973983046972182e-06, 1.9073486328125e-06, 1.3486991523486091e-06, 9.5367431640625e-07, 6.743495761743046e-07, 4.76837158203125e-07, 3.371747880871523e-07, 2.384185791015625e-07, 1.6858739404357614e-07], "log_prior": [-3.912023005428146, -4.570280008077262, -3.8733978644295597, -3.067438162809294, -2.3903932165675448, -1.9242107901144783, -1.6919768730255227, -1.7003364915762262, -1.9509730044381792, -2.443154711477258, -3.1726581242170173, -4.124837943379586, -5.247642610545506, -6.370513773646368, -7.169367796787637, -7.560218181739331, -7.776582955619301, -7.955801564949788, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934], "fewest": [0, 0, 0], "most": [2, 2, 2], "passes": [8], "doubled": [6], "rounds": [3], "left": [3], "active": [0, 1, 2], "dropped_in": [0, 0, 0], "leader": [2], "moving": [0], "movers": [0, 1, 0], "moves": [4611686018427387904], "pulls": [14, 14, 8], "means": [0.300000003, 0.400000004, 0.500000005], "recent": [5.5], "sums": [1.6500000142499998, 2.20000001975, 2.7500000252500003], "squares": [0.498437508015625, 0.885156266046875, 1.375000026828125], "log_wealth": [-3.909945227867265, -3.4115745670835818, -2.830069487718088, -2.3141336496561697, -1.8492662238769138, -1.5368983895915436, -1.5512010532723568, -1.6982587140153453, -1.9488952268772983, -2.441076933916377, -3.1705803466561364, -4.122760165818706, -5.245564832984625, -6.368435996085488, -7.167290019226757, -7.558140404178451, -7.774505178058421, -7.953723787388908, -8.127631574963322, -8.300968809999231, -8.474258796713933, -8.64754574937891, -8.820832550588364, -8.994119345911017, -9.1674061410553, -9.340692936195365, -9.513979731335352, -9.687266526475339, -9.860553321615326, -10.03384011675531, -10.207126911895298, -10.380413707035284, -10.553700502175271, -10.726987297315256, -10.900274092455243, -11.07356088759523, -11.246847682735217, -11.420134477875202, -11.593421273015188, -11.766708068155175, -11.939994863295162, -12.113281658435149, -12.286568453575134, -12.45985524871512, -12.633142043855107, -12.806428838995094, -12.97971563413508, -13.153002429275066, -13.326289224415053, -3.9110432293311908, -3.934806076597326, -3.335750702541768, -2.682413396983502, -2.11549664971032, -1.728337056458645, -1.6210707736179764, -1.699356715479271, -1.949993228341224, -2.4421749353803026, -3.171678348120062, -4.1238581672826315, -5.246662834448551, -6.369533997549413, -7.168388020690682, -7.559238405642376, -7.775603179522347, -7.954821788852834, -8.128729576427249, -8.302066811463158, -8.47535679817786, -8.648643750842837, -8.82193055205229, -8.995217347374943, -9.168504142519227, -9.341790937659292, -9.515077732799279, -9.688364527939266, -9.861651323079252, -10.034938118219237, -10.208224913359224, -10.381511708499211, -10.554798503639198, -10.728085298779183, -10.90137209391917, -11.074658889059156, -11.247945684199143, -11.421232479339128, -11.594519274479115, -11.767806069619102, -11.941092864759089, -12.114379659899075, -12.28766645503906, -12.460953250179047, -12.634240045319034, -12.80752684045902, -12.980813635599004, -13.15410043073899, -13.327387225878978, -3.9120230054281464, -4.570280008077262, -3.87339786442956, -3.0674381628092946, -2.390393216567545, -1.9242107901144787, -1.6919768730255231, -1.7003364915762267, -1.9509730044381797, -2.4431547114772583, -3.1726581242170178, -4.124837943379587, -5.2476426105455065, -6.370513773646369, -7.169367796787638, -7.560218181739332, -7.776582955619302, -7.955801564949789, -8.129709352524204, -8.303046587560113, -8.476336574274814, -8.649623526939791, -8.822910328149245, -8.996197123471898, -9.169483918616182, -9.342770713756247, -9.516057508896234, -9.68934430403622, -9.862631099176207, -10.035917894316192, -10.209204689456179, -10.382491484596166, -10.555778279736153, -10.729065074876138, -10.902351870016124, -11.075638665156111, -11.248925460296098, -11.422212255436083, -11.59549905057607, -11.768785845716057, -11.942072640856043, -12.11535943599603, -12.288646231136015, -12.461933026276002, -12.635219821415989, -12.808506616555976, -12.98179341169596, -13.155080206835947, -13.328367001975934]}, "next": {"arms": [0, 1, 2], "repetitions": 2, "size": 6, "final": false}}', '\xb754a98ce85c4b6749043bcdfe351c17fb1c1b9db80d5981d85ca9f0a911ecfa');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 18, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-40', NULL, 4, 2, '{[0,2)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x4b55ac5c6327931877e0d9eed0dabb93d8ef7299506251d57b0f296d68279655');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 19, '2030-01-01 00:00:00+00', 'ask', 'g', 'key-41', NULL, 4, 10, '{[2,6)}', '2030-01-01 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x47e294ca3a21650054cf14cf8ea69fc29b54e30ddbdc7a5965245f9f8a03bfa7');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 20, '2030-01-01 00:00:00+00', 'tell', 'g', 'key-42', '\x66b00666b43ac862fe2300e32f0755b844967f142f8da2ff08d92ffa0ba20bb7', 4, NULL, NULL, NULL, 19, '{2,3,4,5}', NULL, '{500000002,300000003,400000004,500000005}', 4, 0, 0, NULL, '\x405bc99e5e649739b6bd1eabd7ddc4b52446b35cfd228aa6e7e75cb128164d03');
INSERT INTO affinity.events_7 VALUES ('00000000-0000-0000-0000-000000000007', 21, '2030-01-01 00:02:00+00', 'ask', 'g', 'key-44', NULL, 4, 1, '{[0,1)}', '2030-01-01 00:03:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '\x930105c8d6f3c4f148090d20207a0f764fcfd934b70db06162fd2d0b4b0b7eca');

--
-- Data for Name: events_8; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: events_9; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: faults; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.faults VALUES ('00000000-0000-0000-0000-000000000008', 'state', 'the state of its policy was saved by version 1 of the policy, and this server has version 2', '2030-01-01 00:00:00+00', 1, '2030-01-01 00:00:01+00');

--
-- Data for Name: findings; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.findings VALUES ('00000000-0000-0000-0000-000000000001', 'ends', 'note', '2030-01-01 00:02:00+00', '{1}', 'seen', 'effect', 'advice');

--
-- Data for Name: heads; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000004', 1, 'stopped', 0, 3, 9, 4, 4, 4, 60, 0, 1000000000, NULL, 0, 0, false, NULL, '\xc1f8804a4753e002f38543f2db99d02c66f6c0a72ce8f8d8de77a565d72558ba');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000006', 1, 'open', 2, 3, 9, 6, 6, 9, 60, 1000000000, 5000000000, NULL, 0, 0, false, NULL, '\xa440e7d33cfbdffd133f7f96b46d94115a81037fc585344556dc7f04fb023ff2');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000008', 1, 'open', 0, 3, 9, 9, 9, 3, 60, 0, 1000000000, NULL, 0, 0, false, NULL, '\x8e021bf7fb036c105ce2c259a24dfbdddb809be3faeeefce739db09d91753e77');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000007', 1, 'open', 4, 3, 6, 6, 4, 21, 60, 0, 1000000000, 6, 0, 17, false, NULL, '\x930105c8d6f3c4f148090d20207a0f764fcfd934b70db06162fd2d0b4b0b7eca');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000005', 1, 'open', 0, 3, 9, 9, 9, 3, 60, 0, 1000000000, NULL, 0, 0, false, NULL, '\xa7a3b9af5849cdb1dcbebf19a4ff7b3ce31756284f374b3a497ddd277e7675fb');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000002', 1, 'decided', 1, 1, 4611686018427387904, 6, 6, 6, 60, 0, 1000000000, NULL, 0, 0, false, NULL, '\x3f05a1f942df4b82c80e01d44d854178a0ac51c6b9797fdb2e9771dd7dec6ae3');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-00000000000a', 1, 'open', 3, 3, 0, 0, 0, 14, 60, 0, 1000000000, NULL, 0, 5, true, NULL, '\xadd07571a24f83a72bb6cf634afe7e145282091f020f0327eb87f17043522a75');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000001', 1, 'open', 2, 3, 18, 11, 5, 15, 60, 0, 1000000000, NULL, 0, 0, false, NULL, '\xdb43a11fcdf7e4b462bbb8d085fcfa2abd9fde2ed0ea2bdb9a8dec76fb13332c');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000003', 1, 'exhausted', 1, 3, 1, 1, 1, 7, 60, 0, 1000000000, NULL, 0, 0, false, NULL, '\x53be4aab4e06ea92eb244049ed0b8544d198c3bd387d74b1053c733a76b5da07');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-000000000009', 1, 'open', 1, 2, 18, 3, 3, 6, 60, 1000000000, 5000000000, 12, 0, 5, false, NULL, '\x965a13aae84a80f6dd59b8678edab035d0ad94e391faf4b14506fdf750a2ca77');
INSERT INTO affinity.heads VALUES ('00000000-0000-0000-0000-00000000000b', 1, 'open', 1, 3, 0, 0, 0, 5, 60, 0, 1000000000, 12, 0, 5, true, NULL, '\xa5fa04e56907b2689ce8a9f397cfdb6521bdef4e4c7136029b5066b798260fb5');

--
-- Data for Name: health; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000002', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000003', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000004', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000005', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000006', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000007', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000008', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000009', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-00000000000a', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-00000000000b', '2030-01-01 00:01:00+00', NULL, 0, 0, 0);
INSERT INTO affinity.health VALUES ('00000000-0000-0000-0000-000000000001', '2030-01-01 00:01:00+00', '2030-01-01 00:02:00+00', 20, 0, 0);

--
-- Data for Name: lapses; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.lapses VALUES ('00000000-0000-0000-0000-000000000007', 4, 0, 1);

--
-- Data for Name: leases; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.leases VALUES ('00000000-0000-0000-0000-000000000001', 14, 2, '{[5,9)}', '2030-01-01 00:03:00+00', false, 'g');
INSERT INTO affinity.leases VALUES ('00000000-0000-0000-0000-000000000001', 15, 2, '{[9,11)}', '2030-01-01 00:03:30+00', false, 'g');
INSERT INTO affinity.leases VALUES ('00000000-0000-0000-0000-000000000007', 18, 4, '{[1,2)}', '2030-01-01 00:01:00+00', false, 'g');
INSERT INTO affinity.leases VALUES ('00000000-0000-0000-0000-000000000007', 21, 4, '{[0,1)}', '2030-01-01 00:03:00+00', true, 'g');

--
-- Data for Name: named_judges; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: notices; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: raters; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.raters VALUES ('00000000-0000-0000-0000-00000000000a', 'r3', 3, 4, 4);
INSERT INTO affinity.raters VALUES ('00000000-0000-0000-0000-00000000000a', 'r1', 3, 4, 2);
INSERT INTO affinity.raters VALUES ('00000000-0000-0000-0000-00000000000a', 'r0', 3, 4, 1);
INSERT INTO affinity.raters VALUES ('00000000-0000-0000-0000-00000000000a', 'r2', 3, 4, 3);

--
-- Data for Name: removals; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_0; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_1; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_10; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_11; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_12; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_12 VALUES ('00000000-0000-0000-0000-000000000002', 'key-12', 2, 'g');
INSERT INTO affinity.requests_12 VALUES ('00000000-0000-0000-0000-000000000002', 'key-13', 3, 'g');
INSERT INTO affinity.requests_12 VALUES ('00000000-0000-0000-0000-000000000002', 'key-16', 5, 'g');
INSERT INTO affinity.requests_12 VALUES ('00000000-0000-0000-0000-000000000002', 'key-17', 6, 'g');

--
-- Data for Name: requests_13; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-0', 2, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-1', 3, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-2', 5, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-3', 6, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-4', 7, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-5', 8, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-6', 9, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-7', 10, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-8', 12, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-9', 13, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-10', 14, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000001', 'key-11', 15, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000008', 'key-62', 2, 'g');
INSERT INTO affinity.requests_13 VALUES ('00000000-0000-0000-0000-000000000008', 'key-63', 3, 'g');

--
-- Data for Name: requests_14; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_15; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000004', 'key-20', 2, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000004', 'key-21', 3, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000004', 'stop', 4, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000006', 'key-22', 2, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000006', 'key-23', 3, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000006', 'key-24', 5, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000006', 'key-25', 6, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000006', 'key-26', 8, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000006', 'key-27', 9, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000009', 'key-45', 2, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000009', 'key-46', 3, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000009', 'key-47', 5, 'g');
INSERT INTO affinity.requests_15 VALUES ('00000000-0000-0000-0000-000000000009', 'key-48', 6, 'g');

--
-- Data for Name: requests_2; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_3; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_4; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_4 VALUES ('00000000-0000-0000-0000-000000000005', 'key-64', 2, 'g');
INSERT INTO affinity.requests_4 VALUES ('00000000-0000-0000-0000-000000000005', 'key-65', 3, 'g');

--
-- Data for Name: requests_5; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-000000000003', 'key-14', 2, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-000000000003', 'key-15', 3, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-000000000003', 'key-18', 5, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-000000000003', 'key-19', 6, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-50', 2, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-51', 3, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-52', 4, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-53', 7, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-54', 8, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-55', 9, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-56', 12, 'g');
INSERT INTO affinity.requests_5 VALUES ('00000000-0000-0000-0000-00000000000a', 'key-57', 13, 'g');

--
-- Data for Name: requests_6; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_6 VALUES ('00000000-0000-0000-0000-00000000000b', 'key-59', 3, 'g');
INSERT INTO affinity.requests_6 VALUES ('00000000-0000-0000-0000-00000000000b', 'key-60', 4, 'g');

--
-- Data for Name: requests_7; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-28', 2, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-29', 3, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-30', 4, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-31', 5, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-32', 7, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-33', 8, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-34', 9, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-35', 10, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-36', 12, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-37', 13, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-38', 15, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-39', 16, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-40', 18, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-41', 19, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-42', 20, 'g');
INSERT INTO affinity.requests_7 VALUES ('00000000-0000-0000-0000-000000000007', 'key-44', 21, 'g');

--
-- Data for Name: requests_8; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: requests_9; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Data for Name: rounds; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000004', 0, '{0,1,2}', 3, 9, 0, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000005', 0, '{0,1,2}', 3, 9, 0, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000008', 0, '{0,1,2}', 3, 9, 0, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000001', 0, '{0,1,2}', 1, 3, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{1,1,1}', '{300000000,400000001,500000002}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000001', 1, '{0,1,2}', 4, 12, 3, '2030-01-01 00:00:00+00', '2030-01-01 00:02:00+00', '{4,4,4}', '{1600000015,1600000022,1800000024}', '{}', '{2,4,3}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000001', 2, '{0,1,2}', 6, 18, 15, '2030-01-01 00:02:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000002', 0, '{0,1,2}', 2, 6, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{2,2,2}', '{600000003,800000005,1000000007}', '{0,1}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000002', 1, '{2}', 4611686018427387904, 4611686018427387904, 6, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000003', 0, '{0,1,2}', 2, 6, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{2,2,2}', '{600000003,800000005,1000000007}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000003', 1, '{0,1,2}', 2, 1, 6, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{1,0,0}', '{300000000,0,0}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000006', 0, '{0,1,2}', 1, 3, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{1,1,1}', '{1300000000,1400000001,1500000002}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000006', 1, '{0,1,2}', 2, 6, 3, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{2,2,2}', '{2600000003,2800000005,3000000007}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000006', 2, '{0,1,2}', 3, 9, 9, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000007', 0, '{0,1,2}', 4, 12, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{4,4,4}', '{1200000018,1600000022,2000000026}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000007', 1, '{0,1}', 6, 12, 12, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{6,6}', '{1800000030,2400000036}', '{}', '{0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000007', 2, '{0,1,2}', 2, 6, 24, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{2,2,2}', '{600000003,800000005,1000000007}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000007', 3, '{0,1,2}', 2, 6, 30, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{2,2,2}', '{600000003,800000005,1000000007}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000007', 4, '{0,1,2}', 2, 6, 36, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000009', 0, '{0,1,2}', 4, 12, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{4,4,4}', '{5200000018,5600000022,6000000026}', '{}', '{0,0,0}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-000000000009', 1, '{0,1}', 9, 18, 12, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-00000000000a', 0, '{0,1,2}', 4, 12, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{4,4,4}', '{3600000000,2000000000,400000000}', '{}', '{0,0,0}', '{1,2,2}', 1, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-00000000000a', 1, '{0,1,2}', 1, 3, 12, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{1,1,1}', '{300000000,400000001,500000002}', '{}', '{0,0,0}', '{1,2,2}', 1, 0);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-00000000000a', 2, '{0,1,2}', 1, 3, 15, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{1,1,1}', '{300000000,400000001,500000002}', '{}', '{0,0,0}', '{0,2,1}', 0, 0);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-00000000000a', 3, '{0,1,2}', 0, 0, 18, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, 0);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-00000000000b', 0, '{0,1,2}', 4, 12, 0, '2030-01-01 00:00:00+00', '2030-01-01 00:00:00+00', '{4,4,4}', '{1200000018,1600000022,2000000026}', '{}', '{0,0,0}', '{3,1,2}', 0, NULL);
INSERT INTO affinity.rounds VALUES ('00000000-0000-0000-0000-00000000000b', 1, '{0,1,2}', 0, 0, 12, '2030-01-01 00:00:00+00', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL);

--
-- Data for Name: sums; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000001', 0, 2, 600000003, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000001', 1, 2, 800000005, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000001', 2, 1, 500000002, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000002', 0, 6, 3000000015, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000004', 0, 2, 600000003, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000004', 1, 1, 400000001, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000004', 2, 1, 500000002, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000006', 0, 2, 2600000003, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000006', 1, 2, 2800000005, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000006', 2, 2, 3000000007, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000007', 0, 1, 300000003, '{0,0,0,0,199999952,800000048,0,0,0,0,0,0,0,0,0,0,0}');
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000007', 1, 1, 400000004, '{0,0,0,0,0,0,599999936,400000064,0,0,0,0,0,0,0,0,0}');
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000007', 2, 2, 1000000007, '{0,0,0,0,0,0,0,0,1999999888,112,0,0,0,0,0,0,0}');
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000009', 0, 2, 4000000000, '{4000000000,0,4000000000,0,0}');
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000009', 1, 1, 4123456789, '{0,0,0,3506172844,493827156}');
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000008', 0, 3, 900000009, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000008', 1, 3, 1200000012, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000008', 2, 3, 1500000015, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000005', 0, 3, 900000009, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000005', 1, 3, 1200000012, NULL);
INSERT INTO affinity.sums VALUES ('00000000-0000-0000-0000-000000000005', 2, 3, 1500000015, NULL);

--
-- Data for Name: tenants; Type: TABLE DATA; Schema: affinity; Owner: -
--

INSERT INTO affinity.tenants OVERRIDING SYSTEM VALUE VALUES (1, 'golden', '2030-01-01 00:00:00+00');

--
-- Data for Name: webhooks; Type: TABLE DATA; Schema: affinity; Owner: -
--

--
-- Name: campaigns_number_seq; Type: SEQUENCE SET; Schema: affinity; Owner: -
--

SELECT pg_catalog.setval('affinity.campaigns_number_seq', 11, true);

--
-- Name: notices_number_seq; Type: SEQUENCE SET; Schema: affinity; Owner: -
--

SELECT pg_catalog.setval('affinity.notices_number_seq', 1, false);

--
-- Name: removals_number_seq; Type: SEQUENCE SET; Schema: affinity; Owner: -
--

SELECT pg_catalog.setval('affinity.removals_number_seq', 1, false);

--
-- Name: tenants_id_seq; Type: SEQUENCE SET; Schema: affinity; Owner: -
--

SELECT pg_catalog.setval('affinity.tenants_id_seq', 1, true);

--
-- Name: affinity_schema affinity_schema_pkc; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.affinity_schema
    ADD CONSTRAINT affinity_schema_pkc PRIMARY KEY (version_num);

--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

--
-- Name: campaigns campaigns_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.campaigns
    ADD CONSTRAINT campaigns_pkey PRIMARY KEY (id);

--
-- Name: campaigns campaigns_tenant_key_key; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.campaigns
    ADD CONSTRAINT campaigns_tenant_key_key UNIQUE (tenant, key);

--
-- Name: campaigns campaigns_tenant_number_key; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.campaigns
    ADD CONSTRAINT campaigns_tenant_number_key UNIQUE (tenant, number);

--
-- Name: due due_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.due
    ADD CONSTRAINT due_pkey PRIMARY KEY (campaign);

--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_0 events_0_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_0
    ADD CONSTRAINT events_0_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_10 events_10_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_10
    ADD CONSTRAINT events_10_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_11 events_11_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_11
    ADD CONSTRAINT events_11_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_12 events_12_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_12
    ADD CONSTRAINT events_12_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_13 events_13_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_13
    ADD CONSTRAINT events_13_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_14 events_14_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_14
    ADD CONSTRAINT events_14_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_15 events_15_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_15
    ADD CONSTRAINT events_15_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_1 events_1_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_1
    ADD CONSTRAINT events_1_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_2 events_2_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_2
    ADD CONSTRAINT events_2_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_3 events_3_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_3
    ADD CONSTRAINT events_3_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_4 events_4_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_4
    ADD CONSTRAINT events_4_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_5 events_5_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_5
    ADD CONSTRAINT events_5_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_6 events_6_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_6
    ADD CONSTRAINT events_6_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_7 events_7_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_7
    ADD CONSTRAINT events_7_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_8 events_8_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_8
    ADD CONSTRAINT events_8_pkey PRIMARY KEY (campaign, number);

--
-- Name: events_9 events_9_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.events_9
    ADD CONSTRAINT events_9_pkey PRIMARY KEY (campaign, number);

--
-- Name: faults faults_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.faults
    ADD CONSTRAINT faults_pkey PRIMARY KEY (campaign);

--
-- Name: findings findings_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.findings
    ADD CONSTRAINT findings_pkey PRIMARY KEY (campaign, kind);

--
-- Name: heads heads_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.heads
    ADD CONSTRAINT heads_pkey PRIMARY KEY (campaign);

--
-- Name: health health_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.health
    ADD CONSTRAINT health_pkey PRIMARY KEY (campaign);

--
-- Name: lapses lapses_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.lapses
    ADD CONSTRAINT lapses_pkey PRIMARY KEY (campaign, round, place);

--
-- Name: leases leases_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (campaign, lease);

--
-- Name: named_judges named_judges_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.named_judges
    ADD CONSTRAINT named_judges_pkey PRIMARY KEY (campaign);

--
-- Name: notices notices_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (number);

--
-- Name: raters raters_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.raters
    ADD CONSTRAINT raters_pkey PRIMARY KEY (campaign, rater);

--
-- Name: removals removals_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.removals
    ADD CONSTRAINT removals_pkey PRIMARY KEY (number);

--
-- Name: requests requests_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests
    ADD CONSTRAINT requests_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_0 requests_0_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_0
    ADD CONSTRAINT requests_0_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_10 requests_10_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_10
    ADD CONSTRAINT requests_10_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_11 requests_11_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_11
    ADD CONSTRAINT requests_11_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_12 requests_12_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_12
    ADD CONSTRAINT requests_12_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_13 requests_13_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_13
    ADD CONSTRAINT requests_13_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_14 requests_14_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_14
    ADD CONSTRAINT requests_14_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_15 requests_15_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_15
    ADD CONSTRAINT requests_15_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_1 requests_1_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_1
    ADD CONSTRAINT requests_1_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_2 requests_2_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_2
    ADD CONSTRAINT requests_2_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_3 requests_3_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_3
    ADD CONSTRAINT requests_3_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_4 requests_4_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_4
    ADD CONSTRAINT requests_4_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_5 requests_5_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_5
    ADD CONSTRAINT requests_5_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_6 requests_6_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_6
    ADD CONSTRAINT requests_6_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_7 requests_7_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_7
    ADD CONSTRAINT requests_7_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_8 requests_8_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_8
    ADD CONSTRAINT requests_8_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: requests_9 requests_9_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.requests_9
    ADD CONSTRAINT requests_9_pkey PRIMARY KEY (campaign, key, actor);

--
-- Name: rounds rounds_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.rounds
    ADD CONSTRAINT rounds_pkey PRIMARY KEY (campaign, number);

--
-- Name: sums sums_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.sums
    ADD CONSTRAINT sums_pkey PRIMARY KEY (campaign, place);

--
-- Name: tenants tenants_name_key; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.tenants
    ADD CONSTRAINT tenants_name_key UNIQUE (name);

--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

--
-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

--
-- Name: api_keys_of_maker; Type: INDEX; Schema: affinity; Owner: -
--

CREATE INDEX api_keys_of_maker ON affinity.api_keys USING btree (made_by) WHERE (made_by IS NOT NULL);

--
-- Name: api_keys_of_parent; Type: INDEX; Schema: affinity; Owner: -
--

CREATE INDEX api_keys_of_parent ON affinity.api_keys USING btree (parent) WHERE (parent IS NOT NULL);

--
-- Name: api_keys_of_tenant; Type: INDEX; Schema: affinity; Owner: -
--

CREATE INDEX api_keys_of_tenant ON affinity.api_keys USING btree (tenant);

--
-- Name: health_due; Type: INDEX; Schema: affinity; Owner: -
--

CREATE INDEX health_due ON affinity.health USING btree (due_at);

--
-- Name: notices_of_webhook; Type: INDEX; Schema: affinity; Owner: -
--

CREATE INDEX notices_of_webhook ON affinity.notices USING btree (webhook, dead, number);

--
-- Name: webhooks_of_tenant; Type: INDEX; Schema: affinity; Owner: -
--

CREATE INDEX webhooks_of_tenant ON affinity.webhooks USING btree (tenant);

--
-- Name: events_0_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_0_pkey;

--
-- Name: events_10_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_10_pkey;

--
-- Name: events_11_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_11_pkey;

--
-- Name: events_12_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_12_pkey;

--
-- Name: events_13_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_13_pkey;

--
-- Name: events_14_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_14_pkey;

--
-- Name: events_15_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_15_pkey;

--
-- Name: events_1_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_1_pkey;

--
-- Name: events_2_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_2_pkey;

--
-- Name: events_3_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_3_pkey;

--
-- Name: events_4_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_4_pkey;

--
-- Name: events_5_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_5_pkey;

--
-- Name: events_6_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_6_pkey;

--
-- Name: events_7_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_7_pkey;

--
-- Name: events_8_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_8_pkey;

--
-- Name: events_9_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.events_pkey ATTACH PARTITION affinity.events_9_pkey;

--
-- Name: requests_0_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_0_pkey;

--
-- Name: requests_10_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_10_pkey;

--
-- Name: requests_11_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_11_pkey;

--
-- Name: requests_12_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_12_pkey;

--
-- Name: requests_13_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_13_pkey;

--
-- Name: requests_14_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_14_pkey;

--
-- Name: requests_15_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_15_pkey;

--
-- Name: requests_1_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_1_pkey;

--
-- Name: requests_2_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_2_pkey;

--
-- Name: requests_3_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_3_pkey;

--
-- Name: requests_4_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_4_pkey;

--
-- Name: requests_5_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_5_pkey;

--
-- Name: requests_6_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_6_pkey;

--
-- Name: requests_7_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_7_pkey;

--
-- Name: requests_8_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_8_pkey;

--
-- Name: requests_9_pkey; Type: INDEX ATTACH; Schema: affinity; Owner: -
--

ALTER INDEX affinity.requests_pkey ATTACH PARTITION affinity.requests_9_pkey;

--
-- Name: events append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_0 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_0 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_1 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_1 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_10 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_10 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_11 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_11 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_12 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_12 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_13 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_13 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_14 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_14 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_15 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_15 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_2 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_2 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_3 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_3 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_4 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_4 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_5 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_5 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_6 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_6 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_7 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_7 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_8 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_8 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: events_9 append_only; Type: TRIGGER; Schema: affinity; Owner: -
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON affinity.events_9 FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();

--
-- Name: api_keys api_keys_made_by_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.api_keys
    ADD CONSTRAINT api_keys_made_by_fkey FOREIGN KEY (made_by) REFERENCES affinity.api_keys(id);

--
-- Name: api_keys api_keys_parent_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.api_keys
    ADD CONSTRAINT api_keys_parent_fkey FOREIGN KEY (parent) REFERENCES affinity.api_keys(id);

--
-- Name: api_keys api_keys_tenant_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.api_keys
    ADD CONSTRAINT api_keys_tenant_fkey FOREIGN KEY (tenant) REFERENCES affinity.tenants(id);

--
-- Name: campaigns campaigns_tenant_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.campaigns
    ADD CONSTRAINT campaigns_tenant_fkey FOREIGN KEY (tenant) REFERENCES affinity.tenants(id);

--
-- Name: due due_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.due
    ADD CONSTRAINT due_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: faults faults_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.faults
    ADD CONSTRAINT faults_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: findings findings_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.findings
    ADD CONSTRAINT findings_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: heads heads_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.heads
    ADD CONSTRAINT heads_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: health health_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.health
    ADD CONSTRAINT health_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: named_judges named_judges_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.named_judges
    ADD CONSTRAINT named_judges_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: notices notices_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.notices
    ADD CONSTRAINT notices_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: notices notices_webhook_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.notices
    ADD CONSTRAINT notices_webhook_fkey FOREIGN KEY (webhook) REFERENCES affinity.webhooks(id);

--
-- Name: rounds rounds_campaign_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.rounds
    ADD CONSTRAINT rounds_campaign_fkey FOREIGN KEY (campaign) REFERENCES affinity.campaigns(id);

--
-- Name: webhooks webhooks_tenant_fkey; Type: FK CONSTRAINT; Schema: affinity; Owner: -
--

ALTER TABLE ONLY affinity.webhooks
    ADD CONSTRAINT webhooks_tenant_fkey FOREIGN KEY (tenant) REFERENCES affinity.tenants(id);

--
-- PostgreSQL database dump complete
--

