-- The one way to remove events from the audit trail, for the role that owns the tables.

-- Take a campaign out of use and leave a record that it was there: without its head no request finds
-- it. What is left of it goes in bounded batches, so that no transaction lasts long.
CREATE OR REPLACE FUNCTION affinity.begin_removal(p_campaign uuid, p_by text, p_detail json)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_tenant text;
BEGIN
  SELECT t.name INTO STRICT v_tenant FROM affinity.campaigns AS c
    JOIN affinity.heads AS h ON h.campaign = c.id
    JOIN affinity.tenants AS t ON t.id = c.tenant
    WHERE c.id = p_campaign FOR UPDATE OF h;
  INSERT INTO affinity.removals (by, tenant, campaign, detail)
    VALUES (p_by, v_tenant, p_campaign, p_detail);
  DELETE FROM affinity.heads WHERE campaign = p_campaign;
END $$;

-- Delete up to so many rows of a campaign whose removal has begun, and the campaign once it has no
-- more; return how many. Without bitmaps, each of which would find all rows that are left.
CREATE OR REPLACE FUNCTION affinity.remove_rows(p_campaign uuid, p_most integer)
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
SET enable_bitmapscan = off AS $$
DECLARE
  v_table text;
  v_deleted bigint;
BEGIN
  IF EXISTS (SELECT FROM affinity.heads WHERE campaign = p_campaign) THEN
    RAISE EXCEPTION 'the removal of campaign % has not begun', p_campaign;
  END IF;
  PERFORM set_config('affinity.removing', 'yes', true);
  FOREACH v_table IN ARRAY ARRAY['events', 'requests', 'leases', 'blocks', 'lapses', 'sums', 'raters', 'due',
      'findings', 'health', 'named_judges', 'notices', 'rounds'] LOOP
    EXECUTE format('DELETE FROM affinity.%1$I WHERE campaign = $1 AND ctid = ANY (ARRAY('
      'SELECT ctid FROM affinity.%1$I WHERE campaign = $1 LIMIT $2))', v_table)
      USING p_campaign, p_most;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    EXIT WHEN v_deleted > 0;
  END LOOP;
  PERFORM set_config('affinity.removing', '', true);
  IF v_deleted = 0 THEN
    DELETE FROM affinity.campaigns WHERE id = p_campaign;
  END IF;
  RETURN v_deleted;
END $$;

-- Take a tenant out of the database with its keys and webhooks; its campaigns have to be gone.
CREATE OR REPLACE FUNCTION affinity.remove_tenant(p_tenant text, p_by text, p_detail json)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_id bigint;
BEGIN
  SELECT id INTO STRICT v_id FROM affinity.tenants WHERE name = p_tenant FOR UPDATE;
  INSERT INTO affinity.removals (by, tenant, detail) VALUES (p_by, p_tenant, p_detail);
  DELETE FROM affinity.webhooks WHERE tenant = v_id;
  DELETE FROM affinity.api_keys WHERE tenant = v_id;
  DELETE FROM affinity.tenants WHERE id = v_id;
END $$;

REVOKE ALL ON FUNCTION affinity.begin_removal(uuid, text, json) FROM PUBLIC;
REVOKE ALL ON FUNCTION affinity.remove_rows(uuid, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION affinity.remove_tenant(text, text, json) FROM PUBLIC;
