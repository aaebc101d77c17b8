-- What the model had read from outside before it made a call, for the people who decide: a JSON list of names.
ALTER TABLE approval ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
