import { defineEntity, p } from '@mikro-orm/core';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { User } from '../users/user.entity.ts';

/** Maps an order's reference in its source to the imported order. */
export const ImportedOrderReference = defineEntity({
  name: 'ImportedOrder',
  tableName: 'imported_orders',
  properties: {
    source: p.text().primary(),
    reference: p.text().primary(),
    /** SHA-256 of the imported data; `null` if the order was imported before fingerprints were stored. */
    fingerprint: p.text().nullable(),
    order: p.oneToOne(Order).mapToPk().deleteRule('no action').updateRule('no action'),
  },
});

/** Maps a customer key from an import source to an account. */
export const ImportedCustomerReference = defineEntity({
  name: 'ImportedCustomer',
  tableName: 'imported_customers',
  properties: {
    source: p.text().primary(),
    key: p.text().primary(),
    user: p.manyToOne(User).mapToPk().deleteRule('no action').updateRule('no action'),
  },
  indexes: [{ name: 'imported_customers_user', properties: ['user'] }],
});
