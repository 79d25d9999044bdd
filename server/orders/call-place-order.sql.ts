import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { OrderRejection } from './problem-from-order-rejection.ts';

type PlacementRow = { answer: string | null; location: string | null; refusal: OrderRejection | null };

// Written in SQL because a single function call performs the whole transaction (see the `create-order` benchmark).
export const callPlaceOrderSqlFunction = prepareStatement<PlacementRow>(
  'place_order_v8',
  `select answer, location, refusal
     from mandate_place_order_v8($1::text[], $2, $3, $4, $5::bigint[], $6::int[], $7::json, $8, $9, $10, $11, $12, $13, $14::json, $15::interval, $16::json,
       $17, $18)`,
);
