import { initServer } from '@ts-rest/express';
import { contract, type Scope, type Shipment as ShipmentBody, shipmentStatuses } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import {
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
  rejectIfMatchMismatch,
} from '../http/response/etag-and-conditional-requests.ts';
import { enableEtagOfCreatedResource } from '../http/response/etag-of-created-resource.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { respondWithPaymentsRefundsOrShipments } from '../orders/respond-with-payments-refunds-or-shipments.ts';
import { authorizeAndGetListedUserAndClient } from '../orders/authorize-and-get-listed-user-and-client.ts';
import {
  buildOrderSubresourcePageFilter,
  buildAccessibleOrdersFilter,
  assertOrderAccessible,
} from '../orders/check-order-access-and-build-filters.ts';
import { updateShipment, lockAccessibleOrderAndShipment, createShipmentNotFoundProblem } from './update-shipment.ts';
import { createShipment } from './create-shipment.ts';
import { shipmentFromEntity } from './shipment-from-entity.ts';
import { Shipment } from './shipment.entity.ts';

const etagName = (id: number): string => `shipment-${id}`;

/** Returns the scope that gives staff access to all shipments (the shipping scope or the order management scope). */
const staffScopeFor = (principal: Principal): Scope => (canUseScope(principal, 'shipments.write') ? 'shipments.write' : 'orders.manage');

export const shipmentRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.shipments, {
    create: (request) => handleCreateShipment(dependencies, request),
    list: (request) => handleListShipmentsOfOrder(dependencies, request),
    listAll: (request) => handleListShipments(dependencies, request),
    get: (request) => handleGetShipment(dependencies, request),
    update: (request) => handleUpdateShipment(dependencies, request),
  });

const handleCreateShipment: RouteHandler<typeof contract.shipments.create, HandlerDependencies> = (
  { em },
  { params: { order_id: orderId }, body, req, res },
) => {
  const effect = async (inner: EntityManager): Promise<ShipmentBody> =>
    shipmentFromEntity(await createShipment(inner, requirePrincipal(req), orderId, body, new Date()));
  enableEtagOfCreatedResource(res, etagName);
  return createResourceIdempotently(em, req, res, effect, ({ id }) => `/api/v1/shipments/${id}`);
};

const handleListShipmentsOfOrder: RouteHandler<typeof contract.shipments.list, HandlerDependencies> = async (
  { em, pages },
  { params: { order_id: id }, query, req, res },
) => {
  await assertOrderAccessible(em, requirePrincipal(req), id, staffScopeFor(requirePrincipal(req)));
  const where = buildOrderSubresourcePageFilter(id, pages.decodeCursor(req, query));
  const rows = await em.find(Shipment, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
  const page = pages.respondWithPage(req, res, query, rows, shipmentFromEntity, (shipment) => [shipment.id, shipment.id]);
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, () => em.count(Shipment, { order: id }))) } };
};

const handleListShipments: RouteHandler<typeof contract.shipments.listAll, HandlerDependencies> = async (
  { readList, pages },
  { query, req, res },
) => {
  const principal = requirePrincipal(req);
  const shipments = {
    table: 'shipments',
    statuses: shipmentStatuses,
    ...authorizeAndGetListedUserAndClient(principal, query.user_id, staffScopeFor(principal)),
    narrowedBy: { column: 'tracking_number', value: query.tracking_number },
    find: (from: EntityManager, ids: number[]) => from.find(Shipment, { id: { $in: ids } }, { refresh: true }),
    toBody: shipmentFromEntity,
  } as const;
  return respondWithPaymentsRefundsOrShipments({ readList, pages, req, res, query }, shipments);
};

const handleGetShipment: RouteHandler<typeof contract.shipments.get, HandlerDependencies> = async (
  { em },
  { params: { shipment_id: id }, req, res },
) => {
  const order = buildAccessibleOrdersFilter(requirePrincipal(req), staffScopeFor(requirePrincipal(req)));
  const shipment = await em.findOne(Shipment, { id, order }, { refresh: true });
  if (!shipment) throw createShipmentNotFoundProblem(id);
  return respondWithEtagOrNotModified(req, res, etagName(id), shipmentFromEntity(shipment));
};

const handleUpdateShipment: RouteHandler<typeof contract.shipments.update, HandlerDependencies> = async (
  { em },
  { params: { shipment_id: id }, body, req, res },
) => {
  const updated = await em.transactional(async (inner) => {
    const locked = await lockAccessibleOrderAndShipment(inner, requirePrincipal(req), id);
    rejectIfMatchMismatch(req, etagName(id), locked.shipment);
    await updateShipment(inner, locked, body, new Date());
    return shipmentFromEntity(locked.shipment);
  });
  return respondWithEtagOfChangedResource(res, etagName(id), updated);
};
