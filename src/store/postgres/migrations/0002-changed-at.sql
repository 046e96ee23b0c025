-- When the collection was last changed: milliseconds since 1970, NULL until the next write.
ALTER TABLE head ADD COLUMN changed_at bigint;
