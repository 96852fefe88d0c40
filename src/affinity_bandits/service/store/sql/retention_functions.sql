-- The one way to remove events from the audit trail, for the role that owns the tables.

-- Take a campaign out of the database, and leave a record that it was there.
CREATE OR REPLACE FUNCTION affinity.remove_campaign(p_campaign uuid, p_by text, p_detail json)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
  FOREACH v_table IN ARRAY ARRAY['requests', 'leases', 'lapses', 'sums', 'raters', 'due',
      'findings', 'health', 'named_judges', 'notices', 'rounds', 'heads'] LOOP
    EXECUTE format('DELETE FROM affinity.%I WHERE campaign = $1', v_table) USING p_campaign;
  END LOOP;
  DELETE FROM affinity.campaigns WHERE id = p_campaign;
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

REVOKE ALL ON FUNCTION affinity.remove_campaign(uuid, text, json) FROM PUBLIC;
REVOKE ALL ON FUNCTION affinity.remove_tenant(text, text, json) FROM PUBLIC;
