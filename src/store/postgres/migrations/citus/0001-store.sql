-- The same tables on Citus, where the extension is there: a collection on one shard, tokens and the version everywhere.

SET LOCAL citus.multi_shard_modify_mode = 'sequential';

SELECT create_reference_table('reams_format');
SELECT create_reference_table('token');
SELECT create_distributed_table('head', 'place');
SELECT create_distributed_table('ream', 'place', colocate_with => 'head');
SELECT create_distributed_table('tail', 'place', colocate_with => 'head');
SELECT create_distributed_table('key', 'place', colocate_with => 'head');
SELECT create_distributed_table('hole', 'place', colocate_with => 'head');
SELECT create_distributed_table('lease', 'place', colocate_with => 'head');
SELECT create_distributed_table('leftover', 'place', colocate_with => 'head');
SELECT create_distributed_table('request_log', 'place', colocate_with => 'head');
