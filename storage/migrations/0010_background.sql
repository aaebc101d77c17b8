-- A turn may go on as a background job: it keeps its id, and gets a conversation of its own.
ALTER TABLE run ADD COLUMN moved_from TEXT; -- the conversation it was asked in; NULL: it never left it
CREATE UNIQUE INDEX run_moved ON run (moved_from, request) WHERE moved_from IS NOT NULL;
