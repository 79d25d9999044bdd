import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { findProductForEventOrThrow } from '../products/find-product.ts';
import { ProductStock } from '../products/product-stock-and-adjustment.entity.ts';
import { QuoteReservation } from './quote-and-quote-reservation.entity.ts';

/** Number of units by product ID. */
type Quantities = ReadonlyMap<number, number>;

/**
 * Reserves the stock of products for a quote. Products whose stock is not tracked need no reservation.
 * @throws {Problem} `out_of_stock` if too few units of a product are available
 */
export async function reserveStock(em: EntityManager, quoteId: number, quantities: Quantities): Promise<void> {
  const stocks = await lockStock(em, [...quantities.keys()]);
  const reserved = stocks.map((stock) => ({ stock, quantity: quantities.get(stock.product) ?? 0 }));
  if (reserved.some(({ stock, quantity }) => stock.available < quantity))
    throw createProblem('out_of_stock', {
      detail:
        'Some of the requested units have just been sold or reserved. Send the request again; if too few are left, the response will list the available quantities.',
    });
  for (const { stock, quantity } of reserved) {
    stock.available -= quantity;
    em.create(QuoteReservation, { quote: quoteId, product: stock.product, quantity });
  }
  await em.flush();
  for (const { stock } of reserved.filter(({ stock: { available } }) => available === 0))
    await recordEvent(em, 'product.out_of_stock', await findProductForEventOrThrow(em, stock.product), null);
}

/** Releases the units that quotes have reserved. The caller must have locked the quotes, so that no unit is released twice. */
export async function releaseStockReservedByQuotes(em: EntityManager, quoteIds: readonly number[]): Promise<void> {
  const reservations = await em.find(QuoteReservation, { quote: { $in: [...quoteIds] } }, { disableIdentityMap: true });
  if (reservations.length === 0) return;
  const byProduct = Map.groupBy(reservations, ({ product }) => product);
  const backInStock: number[] = [];
  for (const stock of await lockStock(em, [...byProduct.keys()])) {
    const units = (byProduct.get(stock.product) ?? []).reduce((sum, { quantity }) => sum + quantity, 0);
    if (stock.available === 0) backInStock.push(stock.product);
    stock.available += units;
  }
  await em.flush();
  await em.nativeDelete(QuoteReservation, { quote: { $in: [...quoteIds] } });
  for (const id of backInStock) await recordEvent(em, 'product.back_in_stock', await findProductForEventOrThrow(em, id), null);
}

/** Locks the stock rows in the order of their product IDs, so that concurrent transactions cannot deadlock. */
const lockStock = (em: EntityManager, productIds: readonly number[]) =>
  em.find(
    ProductStock,
    { product: { $in: [...productIds] } },
    { orderBy: { product: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
