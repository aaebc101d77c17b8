-- Jobs that start by themselves, again and again.
CREATE TABLE schedule (
  id         TEXT PRIMARY KEY,
  person     TEXT NOT NULL,            -- whose jobs they are
  space      TEXT NOT NULL,            -- the guild, or one person's direct messages
  place      TEXT NOT NULL,
  within     TEXT NOT NULL DEFAULT '', -- the channel that the place is a thread of
  above      TEXT,                     -- the same as a place, where what happens in the thread may be told too
  goal       TEXT NOT NULL,
  spoken     TEXT NOT NULL,            -- when, in the person's words
  cron       TEXT NOT NULL,            -- when, as five fields of cron
  zone       TEXT NOT NULL,            -- the time zone that these are meant in
  missed     TEXT NOT NULL CHECK (missed IN ('once', 'skip')),
  notify     TEXT NOT NULL CHECK (notify IN ('channel', 'dm', 'both')),
  state      TEXT NOT NULL CHECK (state IN ('draft', 'active', 'paused', 'removed')),
  note       TEXT,                     -- why it paused itself
  next_at    INTEGER,                  -- its next time; NULL unless it is active
  due_at     INTEGER,                  -- when to look at it: its next time, or later if that could not be done then
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX schedule_due ON schedule (due_at) WHERE state = 'active';
CREATE INDEX schedule_space ON schedule (space);

-- One row for each of its times that has come, made in the commit that makes its job: none can have two.
CREATE TABLE occurrence (
  schedule TEXT NOT NULL REFERENCES schedule (id),
  at       INTEGER NOT NULL,           -- the time it was for
  run      TEXT REFERENCES run (id),   -- its job; NULL if there was none
  why      TEXT NOT NULL CHECK (why IN ('due', 'late', 'by hand', 'missed', 'busy')),
  PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX occurrence_run ON occurrence (run) WHERE run IS NOT NULL;

-- The time zone that a person told us.
CREATE TABLE person_zone (
  person TEXT PRIMARY KEY,
  zone   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
