-- What the two calls of the hot path do with sets of slots, and with raters.

CREATE OR REPLACE FUNCTION affinity.slots_in(p_slots int8multirange) RETURNS bigint
LANGUAGE sql IMMUTABLE BEGIN ATOMIC
  SELECT coalesce(sum(upper(run) - lower(run)), 0)::bigint FROM unnest(p_slots) AS run;
END;

CREATE OR REPLACE FUNCTION affinity.first_slots(p_slots int8multirange, p_count bigint)
RETURNS int8multirange LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
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

-- Whether a moment has come that was set so many seconds ahead. If it is more than twice as far away,
-- the clock has been put back since.
CREATE OR REPLACE FUNCTION affinity.is_past(
  p_at timestamptz, p_now timestamptz, p_seconds double precision
) RETURNS boolean LANGUAGE sql STABLE
RETURN p_at <= p_now OR p_at > p_now + make_interval(secs => 2 * p_seconds);

-- Count slots of the open round as lapsed; for the few that do.
CREATE OR REPLACE FUNCTION affinity.count_lapses(
  p_head affinity.heads, p_slots int8multirange
) RETURNS void LANGUAGE sql BEGIN ATOMIC
  INSERT INTO affinity.lapses AS l (campaign, round, place, slots)
    SELECT p_head.campaign, p_head.round, (s % p_head.width)::integer, count(*)
    FROM unnest(p_slots) AS run, generate_series(lower(run), upper(run) - 1) AS s
    GROUP BY 3 ORDER BY 3
    ON CONFLICT (campaign, round, place) DO UPDATE SET slots = l.slots + excluded.slots;
END;

-- Count the scores of a tell by rater; for the tells that say who rated.
CREATE OR REPLACE FUNCTION affinity.count_raters(
  p_campaign uuid, p_event bigint, p_detail json
) RETURNS void LANGUAGE sql BEGIN ATOMIC
  INSERT INTO affinity.raters AS r (campaign, rater, scores, first, place)
    SELECT p_campaign, a.rater, count(*), p_event, min(a.nth)
    FROM json_array_elements_text(p_detail -> 'raters') WITH ORDINALITY AS a (rater, nth)
    WHERE a.rater IS NOT NULL GROUP BY 2
    ON CONFLICT (campaign, rater) DO UPDATE SET scores = r.scores + excluded.scores;
END;
