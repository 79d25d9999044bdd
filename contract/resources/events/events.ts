import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId, urlId, urlInteger } from '../../schema/ids.ts';
import { commaList, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, tokenGuarded } from '../../protocol/problems.ts';
import { describedBy } from '../../protocol/route-metadata.ts';
import type { Scope } from '../../protocol/scopes.ts';
import { taskProblems } from '../tasks/tasks.ts';
import { instant } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf({ ...commonProblems, gone: taskProblems.gone });

/** Everything that can happen to the things of the API, each written down in the transaction of its change. More may be added. */
export const eventTypes = [
  'user.created',
  'user.updated',
  'user.suspended',
  'user.reactivated',
  'user.closed',
  'product.created',
  'product.updated',
  'product.archived',
  'product.deleted',
  'product.stock_changed',
  'product.out_of_stock',
  'product.back_in_stock',
  'order.created',
  'order.updated',
  'order.paid',
  'order.shipped',
  'order.delivered',
  'order.canceled',
  'order.refunded',
  'payment.created',
  'payment.requires_action',
  'payment.succeeded',
  'payment.failed',
  'payment.canceled',
  'refund.created',
  'refund.succeeded',
  'refund.failed',
  'shipment.created',
  'shipment.shipped',
  'shipment.delivered',
  'shipment.failed',
  'shipment.canceled',
  'task.succeeded',
  'task.failed',
  'task.canceled',
  'grant.created',
  'grant.revoked',
  'webhook_endpoint.test',
  'webhook_endpoint.disabled',
] as const;

export type EventType = (typeof eventTypes)[number];

/** For how long events are kept. */
export const eventDays = 30;
/** The longest an answer is held back until something happens, in seconds. */
export const eventWaitMax = 25;

/**
 * Whose events a token may see. `own`: with this scope, what belongs to its person; without it, nothing personal is among them.
 * `all`: with any of these, everybody's, for those who may use such a scope.
 */
export const eventSubjects = {
  user: { own: 'users.read', all: ['users.manage'] },
  product: { own: null, all: ['products.write'] },
  order: { own: 'orders.read', all: ['orders.manage'] },
  payment: { own: 'payments.read', all: ['payments.manage'] },
  refund: { own: 'payments.read', all: ['payments.manage'] },
  shipment: { own: 'orders.read', all: ['orders.manage', 'shipments.write'] },
  task: { own: 'tasks.read', all: [] },
  grant: { own: 'connected_apps.read', all: [] },
  webhook_endpoint: { own: 'webhooks.read', all: [] },
} as const satisfies Record<string, { own: Scope | null; all: readonly Scope[] }>;

export type EventSubject = keyof typeof eventSubjects;

const isSubject = (name: string): name is EventSubject => Object.hasOwn(eventSubjects, name);
const [firstSubject, ...moreSubjects] = Object.keys(eventSubjects).filter(isSubject);
if (firstSubject === undefined) throw new Error('events are about nothing');

/** Every type of one subject, including types that are added later: `order.*`. */
export const eventWildcards = [firstSubject, ...moreSubjects].map((subject): EventWildcard => `${subject}.*`);
export type EventWildcard = `${EventSubject}.*`;

export const event = component(
  'Event',
  z.object({
    id: id.describe('Place in the order of all events. Whoever has seen this one goes on after it.'),
    type: z.string().describe('What happened: `order.paid`. More may be added.'),
    api_version: z.string().describe('The version of the API that `data` is written in.'),
    timestamp: instant.describe('When it happened.'),
    user_id: id.nullable().describe('Whose it is; `null` for what belongs to the shop.'),
    subject: component(
      'EventSubject',
      z.object({
        type: z.string().describe('What it happened to: `order`.'),
        id,
        version: z
          .number()
          .int()
          .nullable()
          .describe('Grows with every change: of two events about one thing the one with the greater version is newer.'),
      }),
    ),
    data: component(
      'EventData',
      z.object({ object: z.record(z.unknown()).describe('The thing as the API shows it, right after what happened.') }),
    ),
  }),
);

export const eventPage = component(
  'EventPage',
  z.object({
    data: z.array(event).max(100),
    has_more: z.boolean().describe('Whether more have happened already.'),
    next_after: z.number().int().min(0).describe('Pass it as `after` to go on.'),
    latest_id: z.number().int().min(0).describe('The newest event there is, yours or not; 0 when there is none.'),
  }),
);

export const events = c.router({
  list: {
    method: 'GET',
    path: '/events',
    query: z
      .object({
        limit: pageQuery.limit,
        after: urlInteger(0, Number.MAX_SAFE_INTEGER).optional().describe('The event to go on after; from the oldest kept when left out.'),
        wait: urlInteger(0, eventWaitMax).default('0').describe('Holds the answer back for so many seconds, until something happens.'),
        type: commaList([...eventTypes, ...eventWildcards])
          .optional()
          .describe('Only events of these types; `order.*` matches every type that begins with `order.`.'),
        subject_type: z.enum([firstSubject, ...moreSubjects]).optional(),
        subject_id: urlId.optional(),
      })
      .strict(),
    summary: 'List events',
    description: `What happened, in order, to whatever the token may see: each kind of thing takes the scope that it takes elsewhere. An event shows once its change is committed, and none is ever put in before one that has been shown. Kept for ${eventDays} days; whoever goes on after an older one is answered 410.`,
    responses: { 200: eventPage, ...fails(...tokenGuarded, 'gone') },
    metadata: describedBy({ operationId: 'events.list', access: ['events.read'] }),
  },
  get: {
    method: 'GET',
    path: '/events/:event_id',
    pathParams: z.object({ event_id: pathId('Identifier of the event.') }),
    summary: 'Get an event',
    responses: { 200: event, ...fails(...tokenGuarded, 'not_found') },
    metadata: describedBy({ operationId: 'events.get', access: ['events.read'] }),
  },
});
export type Event = z.output<typeof event>;
export type EventPage = z.output<typeof eventPage>;
