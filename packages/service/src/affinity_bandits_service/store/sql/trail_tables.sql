-- The audit trail, and the idempotency keys that lead to its events.

-- What happened, in order and without gaps; the rest can be computed from it.
CREATE TABLE affinity.events (
  campaign uuid NOT NULL,
  number bigint NOT NULL,
  at timestamptz NOT NULL,
  kind text NOT NULL CHECK (kind IN
    ('create', 'ask', 'tell', 'close', 'stop', 'judges', 'release', 'ask_block', 'tell_block')),
  actor text NOT NULL,         -- the id of an API key, or "service"
  key text,                    -- idempotency key
  digest bytea,                -- of the request that came with it
  round integer NOT NULL,
  -- ask
  asked integer,
  slots int8multirange,
  expires_at timestamptz,
  -- tell: slots and their scores; or arms, each once for each of its scores, with how many answers
  -- have it, and that many times the score
  lease bigint,
  told bigint[],
  counts bigint[],
  units bigint[],
  counted bigint,
  late bigint,
  duplicate bigint,
  -- create, close, stop, judges, release, ask_block, tell_block; of a tell, who rated
  detail json,
  -- A digest of all that, and of the chain of the event before it (`affinity.chained`).
  chain bytea NOT NULL,
  PRIMARY KEY (campaign, number)
) PARTITION BY HASH (campaign);

-- Which event answered a request: idempotency keys, kept as long as the campaign. Each belongs to
-- the API key that it came with, so that nobody learns or takes what another one asked. A table of its
-- own and no second index on events: where a table has one index, the planner cannot choose the
-- other, which it does as long as it has not seen the table grow.
CREATE TABLE affinity.requests (
  campaign uuid NOT NULL,
  key text NOT NULL,
  event bigint NOT NULL,
  actor text NOT NULL,
  PRIMARY KEY (campaign, key, actor)
) PARTITION BY HASH (campaign);

-- Events are removed only by `affinity.remove_rows`, and only by the owner of the tables.
CREATE FUNCTION affinity.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('affinity.removing', true) = 'yes'
      AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER')
  THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the audit trail is append-only';
END $$;

-- In partitions, so that no index grows without bound and vacuum can take them in turn. A statement
-- that names a partition fires the triggers of that partition alone.
DO $$
BEGIN
  FOR i IN 0 .. 15 LOOP
    EXECUTE format('CREATE TABLE affinity.events_%s PARTITION OF affinity.events'
      ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
    EXECUTE format('CREATE TABLE affinity.requests_%s PARTITION OF affinity.requests'
      ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE'
      ' ON affinity.events_%s FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change()', i);
  END LOOP;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON affinity.events
  FOR EACH STATEMENT EXECUTE FUNCTION affinity.refuse_change();
