-- A card may stand at several places at once. Each is a row of its own, owed and edited like any other; calls refer to
-- the first of them, and so do the others.
ALTER TABLE card ADD COLUMN lead TEXT REFERENCES card (id);    -- the first one; NULL: it is that one itself
ALTER TABLE card ADD COLUMN person TEXT;                       -- whose direct messages it belongs in
ALTER TABLE card ADD COLUMN pings INTEGER NOT NULL DEFAULT 1;  -- whom it notifies: storage/cards.py, `Pings`
ALTER TABLE card ADD COLUMN posts INTEGER NOT NULL DEFAULT 0;  -- how often it was posted anew, because it was deleted
ALTER TABLE card ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;   -- nothing will be shown there any more
ALTER TABLE card ADD COLUMN locked INTEGER NOT NULL DEFAULT 0; -- it is seen there, but nobody can press anything
CREATE INDEX card_copies ON card (lead) WHERE lead IS NOT NULL;
CREATE INDEX card_message ON card (message) WHERE message IS NOT NULL;
CREATE INDEX card_place ON card (place) WHERE gone = 0;
