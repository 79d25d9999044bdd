import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { currency, price } from '../../schema/money.ts';
import { completePageQuery, page } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, open, withBody, withCursor, withIfMatch } from '../../protocol/problems.ts';
import { describedBy, ifMatchHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { line } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf(commonProblems);

export const deliveryMethodCode = z.string().regex(/^[a-z0-9_]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and _');

export const deliveryMethod = component(
  'DeliveryMethod',
  z.object({
    code: deliveryMethodCode.describe('Code by which orders refer to the delivery method.'),
    name: z.string(),
    price: price.describe('Delivery price, in minor units of `currency`.'),
    currency,
    requires_address: z.boolean().describe('Whether an order needs `line1`, `city` and `country`.'),
    version: z.number().int().min(1).describe('Version number, incremented by every change.'),
  }),
);

export const deliveryMethodReplace = component(
  'DeliveryMethodReplace',
  z
    .object({
      name: line(200),
      price: price.describe('Delivery price, in minor units of `currency`.'),
      currency,
      requires_address: z.boolean().default(true),
    })
    .strict(),
);

const methodPath = z.object({ code: deliveryMethodCode.describe('Code by which orders refer to the delivery method.') });

export const deliveryMethods = c.router({
  list: {
    method: 'GET',
    path: '/delivery-methods',
    query: z.object(completePageQuery).strict(),
    summary: 'List delivery methods',
    description: 'Returns the delivery methods that new orders can use, cheapest first.',
    responses: { 200: page('DeliveryMethodList', deliveryMethod), ...fails(...open, ...withCursor) },
    metadata: describedBy({ operationId: 'deliveryMethods.list', access: 'public' }),
  },
  get: {
    method: 'GET',
    path: '/delivery-methods/:code',
    pathParams: methodPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get a delivery method',
    responses: { 200: deliveryMethod, 304: c.noBody(), ...fails(...open, 'not_found') },
    metadata: describedBy({ operationId: 'deliveryMethods.get', access: 'public' }),
  },
  replace: {
    method: 'PUT',
    path: '/delivery-methods/:code',
    pathParams: methodPath,
    headers: ifMatchHeaders.merge(ifNoneMatchHeaders),
    body: deliveryMethodReplace,
    summary: 'Create or replace a delivery method',
    description: 'To replace an existing delivery method, send its ETag in `If-Match`. Existing orders keep their delivery price.',
    responses: { 200: deliveryMethod, 201: deliveryMethod, ...fails(...guarded, ...withBody, ...withIfMatch, 'precondition_required') },
    metadata: describedBy({ operationId: 'deliveryMethods.replace', access: ['settings.write'] }),
  },
  delete: {
    method: 'DELETE',
    path: '/delivery-methods/:code',
    pathParams: methodPath,
    headers: ifMatchHeaders,
    summary: 'Delete a delivery method',
    description: 'New orders cannot use the delivery method any more. Existing orders do not change.',
    responses: { 204: c.noBody(), ...fails(...guarded, ...withIfMatch, 'not_found') },
    metadata: describedBy({ operationId: 'deliveryMethods.delete', access: ['settings.write'] }),
  },
});
export type DeliveryMethod = z.output<typeof deliveryMethod>;
export type DeliveryMethodReplace = z.output<typeof deliveryMethodReplace>;
