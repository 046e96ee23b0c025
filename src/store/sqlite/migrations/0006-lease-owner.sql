-- Where the process of a lease runs, and when it was renewed by the clock that all processes since a boot share.
ALTER TABLE lease ADD COLUMN boot TEXT NOT NULL DEFAULT '';
ALTER TABLE lease ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE lease ADD COLUMN renewed_tick INTEGER NOT NULL DEFAULT 0;
