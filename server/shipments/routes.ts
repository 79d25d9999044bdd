import { initServer } from '@ts-rest/express';
import { sql } from 'kysely';
import { contract, type Scope, type Shipment as ShipmentBody, shipmentStatuses } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { may } from '../http/middleware/authorize.ts';
import { changed, found, requireMatch } from '../http/response/etag.ts';
import { returnCreatedEtag } from '../http/response/created-etag.ts';
import { once } from '../http/writes/idempotency.ts';
import { total } from '../http/response/list-parameters.ts';
import type { Principal } from '../http/request/principal.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { orderSubresourcePage } from '../orders/list-order-subresources.ts';
import { whoseOrders } from '../orders/order-visibility.ts';
import { belowPosition, ownOrders, requireOrder } from '../orders/order-access.ts';
import { changeShipment, lockShipment, shipmentNotFound } from './change-shipment.ts';
import { createShipment } from './create-shipment.ts';
import { shipmentBody } from './shipment-body.ts';
import { Shipment } from './shipment.entity.ts';

const etagName = (id: number): string => `shipment-${id}`;

/** Returns the scope that gives staff access to all shipments: the one for shipping, or the one for managing orders. */
const staffScopeFor = (principal: Principal): Scope => (may(principal, 'shipments.write') ? 'shipments.write' : 'orders.manage');

export const shipmentRoutes = ({ em, readList, pages }: ResourceDeps) =>
  initServer().router(contract.shipments, {
    create: ({ params: { order_id: orderId }, body, req, res }) => {
      const effect = async (inner: Em): Promise<ShipmentBody> =>
        shipmentBody(await createShipment(inner, principalOf(req), orderId, body, new Date()));
      returnCreatedEtag(res, etagName);
      return once(em, req, res, effect, ({ id }) => `/api/v1/shipments/${id}`);
    },

    list: async ({ params: { order_id: id }, query, req, res }) => {
      await requireOrder(em, principalOf(req), id, staffScopeFor(principalOf(req)));
      const where = belowPosition(id, pages.positionOf(req, query));
      const rows = await em.find(Shipment, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
      const page = pages.answer(req, res, query, rows, shipmentBody, (shipment) => [shipment.id, shipment.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => em.count(Shipment, { order: id }))) } };
    },

    listAll: async ({ query, req, res }) => {
      const principal = principalOf(req);
      const shipments = {
        table: 'shipments',
        statuses: shipmentStatuses,
        userId: whoseOrders(principal, query.user_id, staffScopeFor(principal)),
        narrowedBy: query.tracking_number === undefined ? undefined : sql`tracking_number = ${query.tracking_number}`,
        find: (from: Em, ids: number[]) => from.find(Shipment, { id: { $in: ids } }, { refresh: true }),
        toBody: shipmentBody,
      } as const;
      return orderSubresourcePage({ readList, pages, req, res, query }, shipments);
    },

    get: async ({ params: { shipment_id: id }, req, res }) => {
      const order = ownOrders(principalOf(req), staffScopeFor(principalOf(req)));
      const shipment = await em.findOne(Shipment, { id, order }, { refresh: true });
      if (!shipment) throw shipmentNotFound(id);
      return found(req, res, etagName(id), shipmentBody(shipment));
    },

    update: async ({ params: { shipment_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        const locked = await lockShipment(inner, id);
        requireMatch(req, etagName(id), locked.shipment);
        await changeShipment(inner, locked, body, new Date());
        return shipmentBody(locked.shipment);
      });
      return changed(res, etagName(id), updated);
    },
  });
