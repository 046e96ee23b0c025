-- How many steps of a load are committed: a store that was put back to an older state has fewer.
ALTER TABLE lease ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
