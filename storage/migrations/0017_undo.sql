-- What a write put something else in the place of. The bytes lie in files beside this database, never in it: they may
-- be anything, secrets too.
CREATE TABLE undo (
  id       TEXT PRIMARY KEY,             -- also the name of the file with the bytes
  approval TEXT REFERENCES approval (id), -- the call that wrote; NULL: a rule let it run, and there is no card
  call     TEXT NOT NULL,                -- the same, or the model's id of the call
  run      TEXT NOT NULL,
  root     TEXT NOT NULL,                -- the workspace
  path     TEXT NOT NULL,
  before   TEXT,                         -- hash of what was there; NULL: there was no file
  after    TEXT NOT NULL,                -- hash of what the write left
  size     INTEGER NOT NULL,             -- bytes that are kept
  holds    INTEGER NOT NULL DEFAULT 1,   -- whether they still are
  seal     TEXT NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('kept', 'undoing', 'undone', 'unknown')),
  kept_at  INTEGER NOT NULL,
  by       TEXT,                         -- who pressed Undo
  at       INTEGER,
  owner    TEXT,                         -- the boot of the process that does it
  tell     TEXT                          -- the conversation whose model is to hear of it
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX undo_approval ON undo (approval) WHERE approval IS NOT NULL;
CREATE INDEX undo_held ON undo (kept_at) WHERE holds = 1;
CREATE INDEX undo_claimed ON undo (id) WHERE state = 'undoing';
CREATE INDEX undo_tell ON undo (tell) WHERE tell IS NOT NULL;
