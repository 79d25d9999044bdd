/* oxlint-disable oxc/no-async-endpoint-handlers -- both frameworks handle errors of async handlers */
/**
 * Places orders with ORM entities, as the ORM documentation recommends: locks the rows in product order, checks and changes them, and
 * flushes the changes.
 */
import express from 'express';
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { DeliveryMethod } from '../../../server/delivery-methods/delivery-method.entity.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { Order, OrderItem } from '../../../server/orders/order-and-order-item.entity.ts';
import { Product, ProductStock } from '../../../server/products/product-stock-and-adjustment.entity.ts';
import { User } from '../../../server/users/user.entity.ts';
import { settings, verifyCaller } from './verify-caller.ts';

const input = z.object({
  items: z.array(z.object({ product_id: z.number(), quantity: z.number() })),
  delivery: z.object({ method: z.string(), recipient_name: z.string() }),
});

const db = await openDatabaseWithoutMigrating(settings.DATABASE_URL);
const app = express();
app.get('/api/v1/products', (_req, res) => void res.json({ data: [] }));
app.post('/api/v1/orders', express.json(), async (req, res) => {
  const { userId } = await verifyCaller(req.get('authorization'));
  res.status(201).json(await placeOrder(userId ?? 0, input.parse(req.body)));
});
app.listen(settings.PORT, '127.0.0.1');

const placeOrder = (userId: number, { items, delivery }: z.infer<typeof input>): Promise<unknown> =>
  db.em.fork().transactional(async (em) => {
    const ids = items.map((item) => item.product_id);
    await em.findOneOrFail(DeliveryMethod, { code: delivery.method });
    const products = await em.find(Product, { id: { $in: ids } });
    const stock = await em.find(
      ProductStock,
      { product: { $in: ids } },
      { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { product: 'asc' } },
    );
    const lines = items.map((item, index) => {
      const product = products.find(({ id }) => id === item.product_id);
      const held = stock.find((row) => row.product === item.product_id);
      if (!product || !held || held.available < item.quantity) throw new Error('sold out');
      held.available -= item.quantity;
      const { sku, name, price: unitPrice, taxRateBps } = product;
      return {
        line: index + 1,
        product,
        sku,
        name,
        unitPrice,
        quantity: item.quantity,
        taxRateBps,
        tax: 0,
        total: unitPrice * item.quantity,
      };
    });
    const total = lines.reduce((sum, line) => sum + line.total, 0);
    const sums = { subtotal: total, shippingTotal: 0, taxTotal: 0, total, itemCount: lines.length };
    const order = em.create(Order, { user: em.getReference(User, userId), status: 'pending', currency: 'GBP', delivery, ...sums });
    for (const line of lines) em.create(OrderItem, { order, ...line });
    await em.flush();
    return order;
  });
