-- What limits look at: what one run has used, and how many calls of a person or a place wait.
CREATE INDEX usage_run ON usage (run);
CREATE INDEX approval_waiting_person ON approval (requester) WHERE state = 'pending';
CREATE INDEX approval_waiting_place ON approval (place) WHERE state = 'pending';
