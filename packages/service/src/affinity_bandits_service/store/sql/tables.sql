-- Everything lives in one schema, so that the service can share a database.
CREATE SCHEMA affinity;

CREATE TABLE affinity.schema_version (
  version integer PRIMARY KEY,
  serves integer NOT NULL      -- the oldest version whose processes work with it
);

CREATE TABLE affinity.tenants (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  most_campaigns bigint NOT NULL DEFAULT 10000,
  most_events bigint NOT NULL DEFAULT 100000000,
  most_bytes bigint NOT NULL DEFAULT 50000000000
);

-- A key is shown once, when it is made; only a digest of its secret half is kept.
CREATE TABLE affinity.api_keys (
  id text PRIMARY KEY,
  tenant bigint NOT NULL REFERENCES affinity.tenants,
  name text NOT NULL,
  secret_digest bytea NOT NULL CHECK (octet_length(secret_digest) = 32),
  scopes text[] NOT NULL CHECK (scopes <@ ARRAY['ask', 'tell', 'read', 'admin']),
  requests_per_second double precision NOT NULL CHECK (requests_per_second > 0),
  largest_body bigint NOT NULL CHECK (largest_body > 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,             -- the id of a key, or who gave the command
  parent text REFERENCES affinity.api_keys -- the key that a browser's session stands for
);
CREATE INDEX api_keys_of_tenant ON affinity.api_keys (tenant);
-- A session that is deleted is looked for here.
CREATE INDEX api_keys_of_parent ON affinity.api_keys (parent) WHERE parent IS NOT NULL;

-- What a campaign is. What is only shown of it, such as its plan, has no column: it is in the first
-- event. A column here is also in `affinity.defined`, in `campaign_digest` (`trail/chain.py`) and in
-- `_definition_differences` (`trail/verify.py`). Only `saved`, the policy's state before the open round, ever changes.
-- json and not jsonb: jsonb would turn -0.0 into 0 and spell large numbers anew.
CREATE TABLE affinity.campaigns (
  id uuid PRIMARY KEY,
  number bigint GENERATED ALWAYS AS IDENTITY,
  tenant bigint NOT NULL REFERENCES affinity.tenants,
  name text NOT NULL,
  arms text[] NOT NULL,
  policy json NOT NULL,
  horizon bigint NOT NULL,
  lease_seconds double precision NOT NULL,
  lowest bigint NOT NULL,   -- smallest and largest score, in units of 1e-9
  highest bigint NOT NULL,
  saved json NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  key text NOT NULL,
  digest bytea NOT NULL,
  committee bigint[],       -- initial members of each arm, where they were told
  tellers text[],           -- API keys that may answer any lease, or 'any'; NULL for none
  UNIQUE (tenant, key),
  UNIQUE (tenant, number)
);

-- The row that is locked: one a campaign, narrow, and with room to be updated in place.
CREATE TABLE affinity.heads (
  campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,
  tenant bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'decided', 'exhausted', 'stopped')),
  round integer NOT NULL,
  width integer NOT NULL,      -- arms of the open round; slot s belongs to the (s mod width)th
  size bigint NOT NULL,        -- its slots
  next_slot bigint NOT NULL,   -- the first one that nobody has had
  answered bigint NOT NULL,    -- slots whose answer was counted
  events bigint NOT NULL,      -- the number of the last event
  lease_seconds double precision NOT NULL,
  lowest bigint NOT NULL,
  highest bigint NOT NULL,
  CHECK (answered <= next_slot AND next_slot <= size),
  -- How many slots may be under way at once, from the oldest without an answer to the newest handed
  -- out; NULL where the order of answers does not matter to the policy.
  in_flight bigint CHECK (in_flight >= 1),
  -- All slots before it have their answers. Perhaps more have: it is looked up anew only when the
  -- window seems full, since that means reading all leases.
  oldest bigint NOT NULL DEFAULT 0,
  -- At how many scores, evenly spaced from the lowest to the highest, the policy has answers
  -- counted; 0 where sums are enough for it.
  nodes integer NOT NULL DEFAULT 0 CHECK (nodes >= 0),
  -- The round has no slots that an ask may lease: its policy must be told first who judges it, or it
  -- consists of blocks. Of blocks, the slots counted here are scores.
  awaits_judges boolean NOT NULL DEFAULT false,
  tellers text[],
  bytes bigint NOT NULL DEFAULT 0,   -- that the answers in its events take
  chain bytea NOT NULL         -- that of the last event
) WITH (fillfactor = 50);
CREATE INDEX heads_of_tenant ON affinity.heads (tenant);

CREATE TABLE affinity.rounds (
  campaign uuid NOT NULL REFERENCES affinity.campaigns,
  number integer NOT NULL,
  arms integer[] NOT NULL,     -- in the order of the slots
  repetitions bigint NOT NULL, -- what the policy planned for each
  size bigint NOT NULL,        -- slots; fewer than planned where the horizon cuts the round short
  before bigint NOT NULL,      -- answers counted in earlier rounds
  opened_at timestamptz NOT NULL,
  closed_at timestamptz,
  counts bigint[],             -- answers of each arm
  sums numeric[],              -- and their exact sum, in units of 1e-9
  dropped integer[],
  -- Slots of each arm that lapsed: whose first lease expired before they were answered. Set when the
  -- round is closed.
  lapsed bigint[] NOT NULL DEFAULT '{}',
  -- Where the policy is told who judges: how many of each arm, how many of none; and before that,
  -- which arm should have the fewest.
  judges bigint[],
  outsiders bigint,
  fewest_seats integer,
  PRIMARY KEY (campaign, number)
);

-- Who judges rounds to come, where somebody has said so already.
CREATE TABLE affinity.named_judges (
  campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,
  event bigint NOT NULL,       -- in which they were named
  round integer NOT NULL,      -- the first that they may judge
  judges bigint[] NOT NULL,
  outsiders bigint NOT NULL,
  standing boolean NOT NULL    -- those after it as well
);

-- The tables below are written only under the lock of a head, so its campaign exists; a foreign key
-- would look that up again for every row, which costs an ask a fifth of its time.

-- Sums of the open round, by the arm's place in it.
CREATE TABLE affinity.sums (
  campaign uuid NOT NULL,
  place integer NOT NULL,
  answers bigint NOT NULL,
  total numeric NOT NULL,
  -- For each node, how many answers count as it, times the width of the range of scores in units:
  -- an answer between two nodes counts as a part of each. NULL where the policy has none.
  tallies numeric[],
  PRIMARY KEY (campaign, place)
) WITH (fillfactor = 50);

-- Leases of the open round that still owe answers. A lease is named by the number of the event
-- that granted it, which only grows: it is the fencing token, and the order in which they end.
CREATE TABLE affinity.leases (
  campaign uuid NOT NULL,
  lease bigint NOT NULL,
  round integer NOT NULL,
  pending int8multirange NOT NULL CHECK (NOT isempty(pending)),
  expires_at timestamptz NOT NULL,
  again boolean NOT NULL DEFAULT false,   -- whether others had its slots before, or it was given back
  actor text NOT NULL,                    -- who took it
  released boolean NOT NULL DEFAULT false,
  PRIMARY KEY (campaign, lease)
);
-- Usually empty: what was given back is offered again before what lapsed.
CREATE INDEX leases_released ON affinity.leases (campaign, lease) WHERE released;

-- Blocks that were given: a rater scores a candidate of each group. They are kept as long as the
-- campaign, since each is answered once, and raters may not change their group.
CREATE TABLE affinity.blocks (
  campaign uuid NOT NULL,
  lease bigint NOT NULL,       -- the event that gave it
  round integer NOT NULL,
  block bigint NOT NULL,       -- its number in the round
  kind integer NOT NULL,       -- the group of its rater; the number of groups for people of none
  arms integer[] NOT NULL,     -- in the order of the lot
  rater text,
  actor text NOT NULL,         -- who took it
  expires_at timestamptz NOT NULL,
  released boolean NOT NULL DEFAULT false,
  owed boolean NOT NULL DEFAULT true,   -- neither counted nor given again
  units bigint[],              -- its scores, in the order of arms
  counted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (campaign, lease)
);
CREATE INDEX blocks_of_kind ON affinity.blocks (campaign, round, kind, block);
CREATE INDEX blocks_owed ON affinity.blocks (campaign, round, kind, lease) WHERE owed;
CREATE INDEX blocks_of_rater ON affinity.blocks (campaign, rater, lease) WHERE rater IS NOT NULL;

-- Slots of the open round that lapsed, by the arm's place in it. What expired leases still owe is
-- not in it yet: it comes when it is offered again, or answered after all.
CREATE TABLE affinity.lapses (
  campaign uuid NOT NULL,
  round integer NOT NULL,
  place integer NOT NULL,
  slots bigint NOT NULL,
  PRIMARY KEY (campaign, round, place)
) WITH (fillfactor = 50);

-- How many scores each rater gave, counting tells that say who rated and of which all answers
-- counted. Campaigns without raters have no rows.
CREATE TABLE affinity.raters (
  campaign uuid NOT NULL,
  rater text NOT NULL,
  scores bigint NOT NULL,
  first bigint NOT NULL,       -- the event with their first
  place bigint NOT NULL,       -- and its place there, from 1
  PRIMARY KEY (campaign, rater)
) WITH (fillfactor = 50);

-- Rounds that have all their answers and wait to be closed; and why, if that failed by the service's
-- own fault. Reasons quote neither data nor errors.
CREATE TABLE affinity.due (
  campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,
  kind text,
  reason text,
  since timestamptz,
  retry_at timestamptz            -- not before
);

-- When the health of a campaign is looked at, and what a look has to know of those before it.
CREATE TABLE affinity.health (
  campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,
  due_at timestamptz,             -- not before; NULL once the comparison is over
  checked_at timestamptz,         -- the last look
  answers bigint NOT NULL DEFAULT 0,               -- counted by then
  silent double precision NOT NULL DEFAULT 0,      -- seconds without an answer, by then
  longest double precision NOT NULL DEFAULT 0      -- the longest time without one that has ended
);
CREATE INDEX health_due ON affinity.health (due_at);

-- What the last look found.
CREATE TABLE affinity.findings (
  campaign uuid NOT NULL REFERENCES affinity.campaigns,
  kind text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('note', 'warning')),
  since timestamptz NOT NULL,     -- the first look that found it
  arms integer[] NOT NULL,        -- that it is about; empty where it is about all
  seen text NOT NULL,
  effect text NOT NULL,
  advice text NOT NULL,
  PRIMARY KEY (campaign, kind)
);
