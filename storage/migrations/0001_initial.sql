-- Times are integer milliseconds UTC. JSON is TEXT. Ids are opaque; people's and places' ids are text,
-- because only the face that made them may read meaning into them.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A conversation is a list of model messages that only ever grows.
CREATE TABLE conversation (
  id         TEXT PRIMARY KEY,
  length     INTEGER NOT NULL DEFAULT 0,
  start      INTEGER NOT NULL DEFAULT 0, -- where it was begun afresh: what comes before is kept, and not looked at
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE message (
  conversation TEXT NOT NULL REFERENCES conversation (id),
  seq          INTEGER NOT NULL,
  run          TEXT NOT NULL,
  body         TEXT NOT NULL,
  PRIMARY KEY (conversation, seq)
) STRICT;

-- One run of the agent: a turn somebody asked for, or a background job.
CREATE TABLE run (
  id           TEXT PRIMARY KEY,
  conversation TEXT NOT NULL REFERENCES conversation (id),
  kind         TEXT NOT NULL CHECK (kind IN ('turn', 'job')),
  state        TEXT NOT NULL CHECK (state IN ('queued', 'running', 'waiting', 'done', 'failed', 'timed_out', 'cancelled', 'lost')),
  place        TEXT NOT NULL,            -- where it was asked, and where its answer belongs
  within       TEXT NOT NULL DEFAULT '', -- the channel that the place is a thread of
  roles        TEXT NOT NULL DEFAULT '', -- the requester's there when they asked, blanks between them
  again        TEXT,                     -- the ended call that it begins with, asked about once more
  requester    TEXT NOT NULL,
  request      TEXT,                     -- the interaction or message it came from; NULL: nothing to anchor to
  prompt       TEXT NOT NULL,            -- what the person wrote, verbatim
  notify       TEXT NOT NULL CHECK (notify IN ('channel', 'dm', 'both')),
  parent       TEXT,                     -- the run that started this job
  owner        TEXT,                     -- the boot of the process that works on it
  losses       INTEGER NOT NULL DEFAULT 0, -- how often a process died working on it
  clocked      INTEGER NOT NULL DEFAULT 0, -- somebody outside held a clock over it: its jobs get less time
  reply        TEXT,                     -- the message that is being edited with the answer
  hold_until   INTEGER,                  -- until then the same owner goes on in that message
  pauses       INTEGER NOT NULL DEFAULT 0,
  turned_away  INTEGER NOT NULL DEFAULT 0, -- calls that were answered in place of a card
  pause        TEXT,                     -- JSON, versioned: what the run waits for; NULL when it does not wait
  budget_ms    INTEGER,
  spent_ms     INTEGER NOT NULL DEFAULT 0,
  result       TEXT,
  created_at   INTEGER NOT NULL,
  ended_at     INTEGER
) STRICT;
-- Written with OR, here and below: `state = 'queued'` in a query is then known to be in the index, with IN it is not
-- (https://www.sqlite.org/partialindex.html#queries_using_partial_indexes).
CREATE INDEX run_open ON run (state) WHERE state = 'queued' OR state = 'running' OR state = 'waiting';
CREATE UNIQUE INDEX run_request ON run (conversation, request) WHERE kind = 'turn' AND request IS NOT NULL;
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;

-- What a background job has beside its run. Its card is owed like the cards below; `due_at` keeps the pace.
CREATE TABLE job (
  run           TEXT PRIMARY KEY REFERENCES run (id),
  space         TEXT NOT NULL,           -- the guild, or one person's direct messages: a lane of its own
  depth         INTEGER NOT NULL,
  above         TEXT,                    -- the channel of the thread it was asked in
  background    TEXT NOT NULL,           -- what was said before where it came from
  input_tokens  INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_micros   INTEGER DEFAULT 0,       -- millionths of a US dollar; NULL: the price of an answer is not known
  stop_by       TEXT,                    -- who pressed Stop once
  stop_at       INTEGER,
  message       TEXT,
  posted_at     INTEGER,
  version       INTEGER NOT NULL DEFAULT 1,
  shown         INTEGER NOT NULL DEFAULT 0,
  tries         INTEGER NOT NULL DEFAULT 0,
  due_at        INTEGER NOT NULL DEFAULT 0,
  error         TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX job_owed ON job (due_at) WHERE shown < version;

CREATE TABLE job_step (
  run  TEXT NOT NULL REFERENCES job (run),
  n    INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- What a person wanted a running job to know; the model is told at the job's next stretch.
CREATE TABLE job_note (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  run      TEXT NOT NULL REFERENCES job (run),
  person   TEXT NOT NULL,
  text     TEXT NOT NULL,
  at       INTEGER NOT NULL,
  taken_at INTEGER
) STRICT;
CREATE INDEX job_note_waiting ON job_note (run) WHERE taken_at IS NULL;

CREATE TABLE preference (
  person TEXT PRIMARY KEY,
  notify TEXT NOT NULL CHECK (notify IN ('channel', 'dm', 'both'))
) STRICT, WITHOUT ROWID;

-- Tools of MCP servers as they were taken for good: one that says something else of itself asks again.
CREATE TABLE pin (
  server     TEXT NOT NULL,
  tool       TEXT NOT NULL,
  definition TEXT NOT NULL,
  hash       TEXT NOT NULL,
  pinned_at  INTEGER NOT NULL,
  pinned_by  TEXT NOT NULL,
  PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;

-- One message with buttons. `version` counts the moves of its calls, `shown` the version that people see:
-- a card with shown < version is owed an edit, also after a crash.
CREATE TABLE card (
  id       TEXT PRIMARY KEY,
  run      TEXT NOT NULL REFERENCES run (id),
  place    TEXT NOT NULL,
  message  TEXT,
  version  INTEGER NOT NULL DEFAULT 1,
  shown    INTEGER NOT NULL DEFAULT 0,
  tries    INTEGER NOT NULL DEFAULT 0,
  due_at   INTEGER NOT NULL DEFAULT 0,
  error    TEXT,
  edition  INTEGER NOT NULL DEFAULT 0,   -- how often one of its calls was edited
  extended INTEGER NOT NULL DEFAULT 0    -- how often its deadline was put off
) STRICT, WITHOUT ROWID;
CREATE INDEX card_owed ON card (due_at) WHERE shown < version;

-- One call that waits for somebody. storage/approvals.py draws the states.
CREATE TABLE approval (
  id           TEXT PRIMARY KEY,
  run          TEXT NOT NULL REFERENCES run (id),
  conversation TEXT NOT NULL,
  card         TEXT NOT NULL REFERENCES card (id),
  pause        INTEGER NOT NULL,         -- which pause of the run
  position     INTEGER NOT NULL,         -- the model's emission order within it
  call_id      TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('approval', 'external', 'question')),
  tool         TEXT NOT NULL,
  arguments    TEXT NOT NULL,            -- the final, validated arguments: what is shown and what runs
  reason       TEXT NOT NULL,            -- why this call was asked about
  bound        TEXT NOT NULL,            -- JSON: what decides beside the arguments (bot/deferral/digest.py)
  digest       TEXT NOT NULL,            -- binds what the approver saw
  seal         TEXT NOT NULL,            -- an HMAC under a key that is not in this database
  intent       TEXT,                     -- one request, one run; NULL: no request to anchor to
  action       TEXT NOT NULL,            -- the normalised action, without the request
  replaces     TEXT,                     -- the call that is asked here in other words: edited, or void as it was
  edited_by    TEXT,                     -- the person who changed the arguments last
  original     TEXT,                     -- the model's own arguments, where somebody changed them
  requester    TEXT NOT NULL,
  place        TEXT NOT NULL,
  within       TEXT NOT NULL DEFAULT '',
  state        TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  settled_at   INTEGER,
  settled_by   TEXT,                     -- the person who decided
  note         TEXT,                     -- a denial's reason, or why it could not be delivered or was void
  owner        TEXT,
  started_at   INTEGER,
  finished_at  INTEGER,
  exit_code    INTEGER,
  result       TEXT                      -- what the model is handed
) STRICT;
CREATE UNIQUE INDEX approval_call ON approval (run, pause, call_id, coalesce(replaces, ''));
CREATE UNIQUE INDEX approval_replaces ON approval (replaces) WHERE replaces IS NOT NULL;
CREATE UNIQUE INDEX one_request_one_run ON approval (intent) WHERE intent IS NOT NULL;
CREATE INDEX approval_pending ON approval (expires_at) WHERE state = 'pending';
CREATE INDEX approval_live ON approval (state) WHERE state = 'approved' OR state = 'running';
CREATE INDEX approval_card ON approval (card);
CREATE INDEX approval_action ON approval (action) WHERE state = 'pending';
CREATE INDEX approval_conversation ON approval (conversation, requested_at);

-- Who has spoken on a call: one row per person, counted inside the deciding transaction.
CREATE TABLE vote (
  approval TEXT NOT NULL REFERENCES approval (id),
  person   TEXT NOT NULL,
  verdict  TEXT NOT NULL CHECK (verdict IN ('approve', 'deny')),
  roles    TEXT NOT NULL,                -- JSON: those that counted, as the person held them then
  at       INTEGER NOT NULL,
  seal     TEXT NOT NULL,
  PRIMARY KEY (approval, person)
) STRICT, WITHOUT ROWID;

-- What people are owed: each row is said once.
CREATE TABLE outbox (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT NOT NULL UNIQUE,
  run        TEXT,
  place      TEXT NOT NULL,
  body       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('pending', 'attempting', 'delivered', 'inbox', 'undeliverable')),
  tries      INTEGER NOT NULL DEFAULT 0,
  due_at     INTEGER NOT NULL,
  person     TEXT,                       -- whose inbox it comes to rest in; NULL: it is not an ending
  rung       INTEGER NOT NULL DEFAULT 0, -- which way of its ladder is being tried
  failures   TEXT NOT NULL DEFAULT '[]', -- JSON: each way that failed, and why
  returns    INTEGER NOT NULL DEFAULT 0, -- how often it was taken out of the inbox again
  via        TEXT,                       -- the message in which it is to be said, by an edit
  receipt    TEXT,
  error      TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'pending' OR state = 'attempting';
CREATE INDEX outbox_in_flight ON outbox (id) WHERE state = 'attempting';
CREATE INDEX outbox_inbox ON outbox (person) WHERE state = 'inbox';

-- Insert only; each row carries the hash of itself and of the row before it.
CREATE TABLE audit (
  n            INTEGER PRIMARY KEY AUTOINCREMENT, -- a number is never used again, so that a gap stays a gap
  at           INTEGER NOT NULL,
  actor        TEXT NOT NULL,
  event        TEXT NOT NULL,
  approval     TEXT,
  run          TEXT,
  conversation TEXT,
  detail       TEXT NOT NULL,
  hash         TEXT NOT NULL
) STRICT;
CREATE INDEX audit_approval ON audit (approval) WHERE approval IS NOT NULL;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit trail is insert only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit trail is insert only'); END;
