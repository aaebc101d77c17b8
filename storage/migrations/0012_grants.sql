-- What people allowed beforehand: one exact call, of one person, in one place, for a time or a number of times. Sealed,
-- with the number of uses: who can write to this database can still not let a call through.
CREATE TABLE call_grant (
  id           TEXT PRIMARY KEY,
  mark         TEXT NOT NULL,    -- a hash of everything that a call must be for it to hold (bot/deferral/grants.py)
  action       TEXT NOT NULL,    -- the normalised action: what a denial is about
  origin       TEXT NOT NULL REFERENCES approval (id), -- the approved call that it was made with
  space        TEXT NOT NULL,    -- the guild, or one person's direct messages
  place        TEXT NOT NULL,
  within       TEXT NOT NULL,
  requester    TEXT NOT NULL,
  tool         TEXT NOT NULL,
  arguments    TEXT NOT NULL,
  bound        TEXT NOT NULL,
  reason       TEXT NOT NULL,
  makers       TEXT NOT NULL,    -- JSON: everybody on whose approval it rests
  made_at      INTEGER NOT NULL,
  expires_at   INTEGER,          -- NULL: when somebody revokes it
  uses         INTEGER,          -- how many calls it lets through; NULL: any number
  used         INTEGER NOT NULL DEFAULT 0,
  last_used_at INTEGER,
  ended_at     INTEGER,          -- when it was revoked, or a call like it denied
  ended_by     TEXT,
  why          TEXT CHECK (why IN ('revoked', 'denied')),
  seal         TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX call_grant_mark ON call_grant (mark) WHERE ended_at IS NULL;
CREATE INDEX call_grant_action ON call_grant (action) WHERE ended_at IS NULL;
CREATE INDEX call_grant_space ON call_grant (space, made_at);
CREATE UNIQUE INDEX call_grant_origin ON call_grant (origin);

ALTER TABLE approval ADD COLUMN granted TEXT REFERENCES call_grant (id); -- the grant that approved it, if no person did
ALTER TABLE vote ADD COLUMN remember TEXT NOT NULL DEFAULT '';           -- for how long the voter would allow it again
