-- Who else wrote a file while a job's command ran: found by tool and time, not by a walk through every call.
CREATE INDEX approval_written ON approval (tool, started_at);
