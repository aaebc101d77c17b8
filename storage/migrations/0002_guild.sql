-- What the people of a guild set in chat, one body of JSON for each topic. Sealed: who can write to this database can
-- still not let a call through.
CREATE TABLE guild_config (
  guild      TEXT NOT NULL,
  topic      TEXT NOT NULL CHECK (topic IN ('policy', 'settings')),
  version    INTEGER NOT NULL,
  body       TEXT NOT NULL,
  seal       TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (guild, topic)
) STRICT, WITHOUT ROWID;

-- What one person is changing and has not saved: it counts for nothing, and outlives a restart.
CREATE TABLE guild_draft (
  id       TEXT PRIMARY KEY,
  guild    TEXT NOT NULL,
  topic    TEXT NOT NULL,
  person   TEXT NOT NULL,
  base     INTEGER NOT NULL,             -- the version that it began with
  revision INTEGER NOT NULL,             -- grows with each change: what shows an older one changes nothing
  body     TEXT NOT NULL,
  at       INTEGER NOT NULL,
  UNIQUE (guild, topic, person)
) STRICT, WITHOUT ROWID;
