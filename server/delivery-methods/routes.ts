import { initServer } from '@ts-rest/express';
import { type InferEntity, LockMode, raw } from '@mikro-orm/core';
import { contract, type DeliveryMethod as DeliveryMethodBody, type DeliveryMethodReplace } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import {
  respondWithEtagOfChangedResource,
  formatEtag,
  respondWithEtagOrNotModified,
  rejectIfNoneMatchHeaderIsAsterisk,
  rejectIfMatchMismatch,
  requireMatchingIfMatch,
} from '../http/response/etag-and-conditional-requests.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { DeliveryMethod } from './delivery-method.entity.ts';

const etagName = (code: string): string => `delivery-method-${code}`;

const notFound = (code: string) => createProblem('not_found', { detail: translatable`Delivery method ${{ code }} was not found.` });

export const deliveryMethodRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.deliveryMethods, {
    list: (request) => handleListDeliveryMethods(dependencies, request),
    get: (request) => handleGetDeliveryMethod(dependencies, request),
    replace: (request) => handleReplaceDeliveryMethod(dependencies, request),
    delete: (request) => handleDeleteDeliveryMethod(dependencies, request),
  });

const handleListDeliveryMethods: RouteHandler<typeof contract.deliveryMethods.list, HandlerDependencies> = async (
  { em, pages },
  { query, req, res },
) => {
  // Delivery methods are sorted by price and code. The cursor stores the code as its sort value and the price as its ID.
  const [code, price] = pages.decodeCursor(req, query) ?? ['', -1];
  const next = { active: true, $or: [{ price: { $gt: price } }, { price, code: { $gt: String(code) } }] };
  const options = { orderBy: { price: 'asc', code: 'asc' }, limit: query.limit + 1, disableIdentityMap: true } as const;
  const rows = await em.find(DeliveryMethod, next, options);
  return {
    status: 200,
    body: pages.respondWithPage(req, res, query, rows, deliveryMethodFromEntity, (method) => [method.code, method.price]),
  };
};

const handleGetDeliveryMethod: RouteHandler<typeof contract.deliveryMethods.get, HandlerDependencies> = async (
  { em },
  { params: { code }, req, res },
) => {
  const method = await em.findOne(DeliveryMethod, { code, active: true }, { disableIdentityMap: true });
  if (!method) throw notFound(code);
  return respondWithEtagOrNotModified(req, res, etagName(code), deliveryMethodFromEntity(method));
};

const handleReplaceDeliveryMethod: RouteHandler<typeof contract.deliveryMethods.replace, HandlerDependencies> = async (
  { em },
  { params: { code }, body, req, res },
) => {
  const { method, created } = await em.transactional((inner) => replaceMethod(inner, req, code, body));
  if (!created) return respondWithEtagOfChangedResource(res, etagName(code), method);
  res.set('ETag', formatEtag(etagName(code), method)).location(`/api/v1/delivery-methods/${code}`);
  return { status: 201, body: method };
};

const handleDeleteDeliveryMethod: RouteHandler<typeof contract.deliveryMethods.delete, HandlerDependencies> = async (
  { em },
  { params: { code }, req },
) => {
  await em.transactional(async (inner) => {
    const method = await lockMethod(inner, code);
    if (!method) throw notFound(code);
    rejectIfMatchMismatch(req, etagName(code), method);
    method.active = false;
    await inner.flush();
  });
  return { status: 204, body: undefined };
};

type Entity = InferEntity<typeof DeliveryMethod>;

const deliveryMethodFromEntity = ({ code, name, price, currency, requiresAddress, version }: Entity): DeliveryMethodBody => ({
  code,
  name,
  price,
  currency,
  requires_address: requiresAddress,
  version,
});

const lockMethod = (em: EntityManager, code: string): Promise<Entity | null> =>
  em.findOne(DeliveryMethod, { code, active: true }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

async function replaceMethod(em: EntityManager, req: MatchedRequest, code: string, input: DeliveryMethodReplace) {
  const existing = await lockMethod(em, code);
  if (existing) {
    rejectIfNoneMatchHeaderIsAsterisk(req, etagName(code), existing);
    requireMatchingIfMatch(req, etagName(code), existing);
  } else if (req.get('if-match') !== undefined) {
    throw createProblem('precondition_failed', { detail: translatable`Delivery method ${{ code }} does not exist.` });
  }
  const values = { name: input.name, price: input.price, currency: input.currency, requiresAddress: input.requires_address };
  // Recreating a deleted delivery method reuses its row and increments its version.
  await em
    .createQueryBuilder(DeliveryMethod)
    .insert({ code, ...values })
    .onConflict('code')
    .merge({ ...values, active: true, version: raw('delivery_methods.version + 1') })
    .execute();
  const method = await em.findOneOrFail(DeliveryMethod, { code }, { refresh: true });
  return { method: deliveryMethodFromEntity(method), created: !existing };
}
