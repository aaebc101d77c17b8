-- What a person attached to a request, until the conversation holds it: then the run's rows are deleted.
CREATE TABLE attachment (
  run        TEXT NOT NULL REFERENCES run (id),
  n          INTEGER NOT NULL,
  name       TEXT NOT NULL,
  media_type TEXT NOT NULL,
  body       TEXT NOT NULL,              -- a text as it is, an image in base64
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
