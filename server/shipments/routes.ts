import { initServer } from '@ts-rest/express';
import { contract, type Shipment as ShipmentBody } from '@mandate/contract';
import type { Em } from '../database/orm.ts';
import { may } from '../http/authorize.ts';
import { changed, requireMatch } from '../http/conditional.ts';
import { once } from '../http/idempotency.ts';
import { total } from '../http/list-query.ts';
import { principalOf } from '../http/request-scope.ts';
import type { ResourceDeps } from '../http/resource.ts';
import { before, requireOrder } from '../payments/find-payment.ts';
import { changeShipment, lockShipment } from './change-shipment.ts';
import { createShipment } from './create-shipment.ts';
import { shipmentBody } from './shipment-body.ts';
import { Shipment } from './shipment.entity.ts';

export const shipmentRoutes = ({ em, pages }: ResourceDeps) =>
  initServer().router(contract.shipments, {
    create: ({ params: { order_id: orderId }, body, req, res }) => {
      const effect = async (inner: Em): Promise<ShipmentBody> =>
        shipmentBody(await createShipment(inner, principalOf(req), orderId, body, new Date()));
      return once(em, req, res, effect, () => `/api/v1/orders/${orderId}/shipments`);
    },

    list: async ({ params: { order_id: id }, query, req, res }) => {
      const principal = principalOf(req);
      await requireOrder(em, principal, id, may(principal, 'shipments.write') ? 'shipments.write' : 'orders.manage');
      const where = before(id, pages.positionOf(req, query));
      const rows = await em.find(Shipment, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
      const page = pages.answer(req, res, query, rows, shipmentBody, (shipment) => [shipment.id, shipment.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => em.count(Shipment, { order: id }))) } };
    },

    update: async ({ params: { shipment_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        const locked = await lockShipment(inner, id);
        requireMatch(req, `shipment-${id}`, locked.shipment);
        await changeShipment(inner, locked, body, new Date());
        return shipmentBody(locked.shipment);
      });
      return changed(res, `shipment-${id}`, updated);
    },
  });
