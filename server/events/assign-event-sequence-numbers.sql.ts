import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL because MikroORM can neither number rows nor update rows from a query. This statement runs for the events of every order,
// so it affects the `create-order` benchmark. The statement has no name, so that it is planned for each execution. A plan that was cached
// while the table was small would read all events.
export const assignSequenceNumberBatch = prepareStatement<{ count: number }>(
  undefined,
  `with waiting as (select id from events where seq is null order by id limit $2),
        placed as (select id, $1::bigint + row_number() over (order by id) as seq from waiting),
        stamped as (update events e set seq = placed.seq from placed where e.id = placed.id returning e.seq),
        advanced as (update event_sequence set last_seq = (select max(seq) from placed) where exists (select 1 from placed))
   select count(*) as count from stamped`,
);
