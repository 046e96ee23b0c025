-- The same tables on Citus, where the extension is there: a collection on one shard, tokens and the version everywhere.

SET LOCAL citus.multi_shard_modify_mode = 'sequential';

SELECT create_reference_table('reams_format');
SELECT create_reference_table('token');
SELECT create_distributed_table('head', 'shard_key');
SELECT create_distributed_table('ream', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('tail', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('key', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('hole', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('state', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('change', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('past', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('past_hole', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('replaced', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('lease', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('leftover', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('request_log', 'shard_key', colocate_with => 'head');
SELECT create_distributed_table('following', 'shard_key', colocate_with => 'head');
