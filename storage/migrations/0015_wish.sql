-- How people want to be told what is theirs, beside where (preference) and whose clock (person_zone).
CREATE TABLE wish (
  person      TEXT PRIMARY KEY,
  unpinged    INTEGER NOT NULL DEFAULT 0,   -- answers and results notify them in no channel
  quiet_hours TEXT                          -- like 22:00-07:00: what notifies them then makes no sound
) STRICT, WITHOUT ROWID;
