import { prepareBatchedListStatement } from '../queries/batched-statement.ts';

// Written in SQL because MikroORM has no functions for replication.
// A primary's position is its last commit; a replica's position is its last replayed record.
// With synchronous_commit, the flush position is used, because replicas receive only flushed WAL.
// Without synchronous_commit, the insert position is used, because the last commit may not have been flushed yet.
export const readWalPosition = prepareBatchedListStatement<{ position: number | null }>(
  'read_wal_position',
  [],
  `select ((case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
                 when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
                 else pg_current_wal_flush_lsn() end) - '0/0'::pg_lsn)::bigint as position`,
  'any',
);
// Written in SQL because MikroORM has no functions for replication.
export const readDatabaseIdentity = prepareBatchedListStatement<{ identity: string; standby: boolean }>(
  'read_database_identity',
  [],
  `select system_identifier || '/' || current_database() as identity, pg_is_in_recovery() as standby from pg_control_system()`,
  'any',
);
