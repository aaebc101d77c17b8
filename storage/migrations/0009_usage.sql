-- What each call of the model took; written in the commit of the step that it belongs to.
CREATE TABLE usage (
  id                 TEXT PRIMARY KEY,
  at                 INTEGER NOT NULL,
  run                TEXT NOT NULL,
  conversation       TEXT NOT NULL,
  person             TEXT NOT NULL,
  place              TEXT NOT NULL,
  channel            TEXT NOT NULL,      -- the place, or the channel that it is a thread of
  space              TEXT NOT NULL,      -- the guild, or @me
  model              TEXT NOT NULL,
  input_tokens       INTEGER NOT NULL,   -- those from and for the provider's cache included
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  tool_calls         INTEGER NOT NULL,   -- calls of tools in the answer
  measured           INTEGER NOT NULL,   -- 0: the provider did not say how many tokens
  cost_micros        INTEGER,            -- millionths of a US dollar; NULL: the price is not known
  took_ms            INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_at ON usage (at);

-- The same, added up by day in the same commit: what budgets and listings read, and what is kept for long.
CREATE TABLE usage_day (
  person             TEXT NOT NULL,
  day                INTEGER NOT NULL,   -- days since 1970-01-01, UTC
  space              TEXT NOT NULL,
  channel            TEXT NOT NULL,
  model              TEXT NOT NULL,
  calls              INTEGER NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  tool_calls         INTEGER NOT NULL,
  unmeasured         INTEGER NOT NULL,   -- calls of which the provider did not say how many tokens
  cost_micros        INTEGER NOT NULL,   -- of the calls whose price is known
  unpriced           INTEGER NOT NULL,   -- calls whose price is not known
  took_ms            INTEGER NOT NULL,
  PRIMARY KEY (person, day, space, channel, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_day_space ON usage_day (space, day);
CREATE INDEX usage_day_day ON usage_day (day);
