-- What makes a store fast and small and can be added to one that is there.

-- Replaced reams leave as much behind as was written. By default autovacuum waits for a fifth of the table, and pauses too often to
-- keep up.
ALTER TABLE ream SET (
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000, toast.autovacuum_vacuum_cost_delay = 0
);

-- Only statements that say the same can use it: the planner should find a request by its key.
CREATE INDEX request_log_oldest ON request_log (shard_key, at) WHERE at > '-infinity';

DROP INDEX IF EXISTS request_log_by_age;
