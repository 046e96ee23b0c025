-- How many steps of the load are committed. One that counts more than this finds that the database lost some in a crash.
ALTER TABLE lease ADD COLUMN steps bigint NOT NULL DEFAULT 0;
