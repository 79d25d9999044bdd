import type { Em } from '../database/entity-manager/entity-manager.ts';
import { DeliveryMethod } from '../delivery-methods/delivery-method.entity.ts';
import { Product, ProductStock } from '../products/product.entity.ts';
import shop from './demonstration-products.json' with { type: 'json' };

const currency = 'GBP';
const vatBps = 2000;

/** Something to sell and a way to deliver it. The products come from a real shop: see the head of the file they are in. */
export async function createDemonstrationShop(em: Em): Promise<void> {
  await em.insertMany(DeliveryMethod, [
    { code: 'standard', name: 'Standard delivery, 3 to 5 days', price: 395, currency, requiresAddress: true },
    { code: 'express', name: 'Express delivery, next working day', price: 695, currency, requiresAddress: true },
    { code: 'collection', name: 'Collection from the shop', price: 0, currency, requiresAddress: false },
  ]);
  const made = shop.products.map(({ stock, ...product }) => ({
    product: em.create(Product, { ...product, currency, taxRateBps: vatBps, status: 'active' }),
    available: stock,
  }));
  await em.flush();
  await em.insertMany(
    ProductStock,
    made.map(({ product, available }) => ({ product: product.id, available })),
  );
}
