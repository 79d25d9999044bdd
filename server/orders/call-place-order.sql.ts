import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { ExceededLimit } from '../order-limits/order-limit-problems.ts';
import type { OrderRejection } from './problem-from-order-rejection.ts';

/** The limits of a grant, and the limit that an order would exceed, if any. */
export type LimitCheck = Required<Omit<ExceededLimit, 'limit' | 'set_by' | 'categories' | 'products'>> &
  Pick<ExceededLimit, 'set_by' | 'categories' | 'products'> & { readonly limit: ExceededLimit['limit'] | null };

/**
 * Result of the SQL function if no order was placed. If only the price was requested, `exceeded` contains the limits of the grant even if
 * the order exceeds none of them.
 */
export type PricedOrderRejection = Omit<OrderRejection, 'exceeded'> & {
  exceeded: LimitCheck | null;
  /** Prices; null unless only the price was requested. The arrays contain one element per line if all products are for sale. */
  price: {
    tax: number;
    skus: string[] | null;
    names: string[] | null;
    unit_prices: number[] | null;
    tax_rates: number[] | null;
    taxes: number[] | null;
    totals: number[] | null;
    /** Available units by product ID; products whose stock is not tracked are absent. */
    stock: Record<string, number>;
  } | null;
};

type PlacementRow = { answer: string | null; location: string | null; refusal: (OrderRejection & PricedOrderRejection) | null };

// Written in SQL because a single function call performs the whole transaction (see the `create-order` benchmark).
export const callPlaceOrderSqlFunction = prepareStatement<PlacementRow>(
  'place_order_v10',
  `select answer, location, refusal
     from mandate_place_order_v10($1::text[], $2, $3, $4, $5::bigint[], $6::int[], $7::json, $8, $9, $10, $11, $12, $13, $14::json, $15::interval, $16::json,
       $17, $18, $19, $20)`,
);
