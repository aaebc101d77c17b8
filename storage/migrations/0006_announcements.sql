-- Announcement turns: a job's ending is told to the conversation that it came from, in a turn that nobody asked for.
ALTER TABLE run ADD COLUMN announces TEXT; -- the job whose ending the turn is about; its prompt is empty then
CREATE UNIQUE INDEX run_announces ON run (announces) WHERE announces IS NOT NULL;
-- An announcement turn inherits the request that its job came from, which had a turn of its own.
DROP INDEX run_request;
CREATE UNIQUE INDEX run_request ON run (conversation, request)
  WHERE kind = 'turn' AND request IS NOT NULL AND announces IS NULL;

ALTER TABLE job ADD COLUMN origin TEXT NOT NULL DEFAULT ''; -- the conversation it came from
ALTER TABLE job ADD COLUMN anchor TEXT;                     -- the request it came from
CREATE INDEX job_conversation ON run (conversation) WHERE kind = 'job';
