import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { BatchLoader, type BatchResult } from '../../database/queries/batch-loader.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';

// Written in SQL because concurrent requests with DPoP proofs share one insert and one commit (see the `dpop` benchmark).
// Rows are inserted in the order of their IDs, so that concurrent batches do not deadlock.
const insertProofIds = prepareStatement<BatchResult<true>>(
  'consume_dpop_proof_ids',
  `with asked as (select * from unnest($1::text[], $2::timestamptz[]) with ordinality as a (id, expires_at, n)),
     inserted as (
       insert into oauth_records (model, id, payload, expires_at)
         select 'ReplayDetection', id, '{}', max(expires_at) from asked group by id order by id
         on conflict do nothing returning id)
   select min(n)::int as n, true as answer from asked join inserted using (id) group by id`,
);

type ProofId = { readonly id: string; readonly expiresAt: Date };

/** Creates a function that records a proof as used until `expiresAt`, and returns whether the proof had not been used before. */
export function createDpopProofIdConsumer(em: EntityManager): (proof: ProofId) => Promise<boolean> {
  const loader = new BatchLoader<true>(
    (proofs, onResult) =>
      insertProofIds(
        em,
        [0, 1].map((index) => proofs.map((parameters) => parameters[index])),
        onResult,
      ),
    { maxBatchSize: 100, maxConcurrentBatches: 2 },
  );
  let count = 0;
  return async ({ id, expiresAt }) => {
    // The number makes each batch loader key unique. Otherwise, the loader would return the same result to two requests with the same
    // proof.
    count += 1;
    return (await loader.load([id, expiresAt, count])) === true;
  };
}
