-- A harmless request to everybody who decides in a guild, and who could and did press it. Its card is owed like others.
CREATE TABLE drill (
  id         TEXT PRIMARY KEY,
  space      TEXT NOT NULL,
  place      TEXT NOT NULL,
  within     TEXT NOT NULL,
  started_by TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ends_at    INTEGER NOT NULL,
  roles      TEXT NOT NULL,             -- JSON: roles whose members decide there
  ended_at   INTEGER,
  message    TEXT,
  version    INTEGER NOT NULL DEFAULT 1,
  shown      INTEGER NOT NULL DEFAULT 0,
  tries      INTEGER NOT NULL DEFAULT 0,
  due_at     INTEGER NOT NULL DEFAULT 0,
  error      TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX drill_open ON drill (space) WHERE ended_at IS NULL;
CREATE INDEX drill_owed ON drill (due_at) WHERE shown < version;

CREATE TABLE drill_person (
  drill      TEXT NOT NULL REFERENCES drill (id),
  person     TEXT NOT NULL,
  named      INTEGER NOT NULL,          -- a rule names them; else they pressed as members of a role
  way        TEXT,                      -- channel, dm
  problem    TEXT,                      -- why the request could not reach them
  pressed_at INTEGER,
  roles      TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (drill, person)
) STRICT, WITHOUT ROWID;
