-- What the operation of the service needs beside campaigns.

-- Where a tenant wants to be told of its campaigns. The row is locked while a notice is on its way,
-- so that no two servers send to one webhook at once, and notices arrive in their order.
CREATE TABLE affinity.webhooks (
  id uuid PRIMARY KEY,
  tenant bigint NOT NULL REFERENCES affinity.tenants,
  url text NOT NULL,
  secret bytea NOT NULL,        -- what notices are signed with, so it is kept as it is
  kinds text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL,
  removed_at timestamptz,
  retry_at timestamptz NOT NULL DEFAULT clock_timestamp(),   -- not before
  pause double precision NOT NULL DEFAULT 0,                 -- how far ahead that was set, in seconds
  last_failure text
);
CREATE INDEX webhooks_of_tenant ON affinity.webhooks (tenant);

-- What a webhook is still to be told, written with what it is about. A notice goes once it is
-- delivered; one that was tried for too long is dead, and stays to be seen.
CREATE TABLE affinity.notices (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook uuid NOT NULL REFERENCES affinity.webhooks,
  campaign uuid NOT NULL REFERENCES affinity.campaigns,
  kind text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tries integer NOT NULL DEFAULT 0,
  dead boolean NOT NULL DEFAULT false
);
CREATE INDEX notices_of_webhook ON affinity.notices (webhook, dead, number);

-- What was taken out of the database for good: archived campaigns, and tenants.
CREATE TABLE affinity.removals (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  by text NOT NULL,            -- who said so
  role text NOT NULL DEFAULT current_user,
  tenant text NOT NULL,
  campaign uuid,               -- NULL for a tenant as a whole
  detail json NOT NULL         -- numbers and digests of what was there, and where it went
);
