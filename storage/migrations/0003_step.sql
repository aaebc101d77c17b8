-- What a run has done in the stretch that it is in: each model answer and each batch of tool results, as they came.
-- When the stretch ends its messages belong to the conversation, or to nothing, and these rows go.
CREATE TABLE step (
  run         TEXT NOT NULL REFERENCES run (id),
  n           INTEGER NOT NULL,          -- the place among the messages of the stretch
  length      INTEGER NOT NULL,          -- the conversation's length where the stretch began
  turned_away INTEGER NOT NULL,          -- calls of the stretch that were answered in place of a card, so far
  body        TEXT NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
