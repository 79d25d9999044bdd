import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL so that one statement updates all keys; MikroORM cannot update from a list of values.
export const writeLastUse = prepareStatement(
  'update_api_key_last_used',
  `update api_keys k set last_used_at = greatest(k.last_used_at, used.at)
   from unnest($1::bigint[], $2::timestamptz[]) as used (id, at) where k.id = used.id`,
);
