import { initServer } from '@ts-rest/express';
import { contract, type Scope, type Shipment as ShipmentBody, shipmentStatuses } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { canUseScope } from '../http/middleware/authorize.ts';
import { respondWithNewEtag, respondWithEtag, checkIfMatch } from '../http/response/etag.ts';
import { enableCreatedEtag } from '../http/response/created-etag.ts';
import { createIdempotently } from '../http/writes/idempotency.ts';
import { totalCountFields } from '../http/response/list-parameters.ts';
import type { Principal } from '../http/request/principal.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { listOrderSubresources } from '../orders/list-order-subresources.ts';
import { resolveOrderOwnerFilter } from '../orders/order-visibility.ts';
import { orderResourcesAfterPositionFilter, accessibleOrdersFilter, assertOrderAccessible } from '../orders/order-access.ts';
import { updateShipment, lockOrderAndShipment, shipmentNotFoundProblem } from './change-shipment.ts';
import { createShipment } from './create-shipment.ts';
import { shipmentFromEntity } from './shipment-response.ts';
import { Shipment } from './shipment.entity.ts';

const etagName = (id: number): string => `shipment-${id}`;

/** Returns the scope that gives staff access to all shipments: the shipping scope, or the order management scope. */
const staffScopeFor = (principal: Principal): Scope => (canUseScope(principal, 'shipments.write') ? 'shipments.write' : 'orders.manage');

export const shipmentRoutes = ({ em, readList, pages }: HandlerDependencies) =>
  initServer().router(contract.shipments, {
    create: ({ params: { order_id: orderId }, body, req, res }) => {
      const effect = async (inner: EntityManager): Promise<ShipmentBody> =>
        shipmentFromEntity(await createShipment(inner, requirePrincipal(req), orderId, body, new Date()));
      enableCreatedEtag(res, etagName);
      return createIdempotently(em, req, res, effect, ({ id }) => `/api/v1/shipments/${id}`);
    },

    list: async ({ params: { order_id: id }, query, req, res }) => {
      await assertOrderAccessible(em, requirePrincipal(req), id, staffScopeFor(requirePrincipal(req)));
      const where = orderResourcesAfterPositionFilter(id, pages.decodeCursor(req, query));
      const rows = await em.find(Shipment, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
      const page = pages.respondWithPage(req, res, query, rows, shipmentFromEntity, (shipment) => [shipment.id, shipment.id]);
      return { status: 200, body: { ...page, ...(await totalCountFields(query, () => em.count(Shipment, { order: id }))) } };
    },

    listAll: async ({ query, req, res }) => {
      const principal = requirePrincipal(req);
      const shipments = {
        table: 'shipments',
        statuses: shipmentStatuses,
        userId: resolveOrderOwnerFilter(principal, query.user_id, staffScopeFor(principal)),
        narrowedBy: { column: 'tracking_number', value: query.tracking_number },
        find: (from: EntityManager, ids: number[]) => from.find(Shipment, { id: { $in: ids } }, { refresh: true }),
        toBody: shipmentFromEntity,
      } as const;
      return listOrderSubresources({ readList, pages, req, res, query }, shipments);
    },

    get: async ({ params: { shipment_id: id }, req, res }) => {
      const order = accessibleOrdersFilter(requirePrincipal(req), staffScopeFor(requirePrincipal(req)));
      const shipment = await em.findOne(Shipment, { id, order }, { refresh: true });
      if (!shipment) throw shipmentNotFoundProblem(id);
      return respondWithEtag(req, res, etagName(id), shipmentFromEntity(shipment));
    },

    update: async ({ params: { shipment_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        const locked = await lockOrderAndShipment(inner, id);
        checkIfMatch(req, etagName(id), locked.shipment);
        await updateShipment(inner, locked, body, new Date());
        return shipmentFromEntity(locked.shipment);
      });
      return respondWithNewEtag(res, etagName(id), updated);
    },
  });
