-- A message that somebody wants to ask about, from the form that was opened on it to its submit.
CREATE TABLE clipping (
  id      TEXT PRIMARY KEY,
  person  TEXT NOT NULL,      -- who opened the form, and alone may submit it
  place   TEXT NOT NULL,
  message TEXT NOT NULL,      -- where people find it: its id there
  author  TEXT NOT NULL,      -- who wrote it, in words
  body    TEXT NOT NULL,
  files   TEXT NOT NULL,      -- JSON: what hangs on it, as the face describes it
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX clipping_at ON clipping (at);
