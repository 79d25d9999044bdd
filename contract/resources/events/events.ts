import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema, idInUrlSchema, integerInUrlSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema, paginationParameters } from '../../schema/pagination.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfAuthenticatedOperations } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import type { Scope } from '../../protocol/scopes.ts';
import { taskProblemTypes } from '../tasks/tasks.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses({ ...commonProblemTypes, gone: taskProblemTypes.gone });

/** Retention period of events, in days. */
export const eventRetentionDays = 30;
/** Maximum duration of a long poll for new events, in seconds. */
export const maxEventWaitSeconds = 25;

/**
 * All event subjects, each with the names of its possible changes and the name of the schema of `data.object`. `own` and `all` are the
 * scopes that make the events visible to a token. The `own` scope covers the events of the token's user. If `own` is `null`, the events do
 * not concern a user and require no scope. Any scope in `all` covers the events of all users, if the token's user has the role that the
 * scope requires. `orderId` is the field of the subject that contains the order ID, or `null` if the subject is not part of an order.
 */
export const eventSubjectDefinitions = {
  user: {
    changes: ['created', 'updated', 'suspended', 'reactivated', 'closed'],
    schema: 'User',
    own: 'users.read',
    orderId: null,
    all: ['users.manage'],
  },
  product: {
    changes: ['created', 'updated', 'archived', 'deleted', 'stock_changed', 'out_of_stock', 'back_in_stock'],
    schema: 'Product',
    own: null,
    orderId: null,
    all: ['products.write'],
  },
  order: {
    changes: ['created', 'updated', 'paid', 'shipped', 'delivered', 'canceled', 'refunded'],
    schema: 'Order',
    own: 'orders.read',
    orderId: 'id',
    all: ['orders.manage'],
  },
  quote: {
    changes: ['created', 'converted', 'canceled', 'expired'],
    schema: 'Quote',
    own: 'orders.read',
    orderId: null,
    all: ['orders.manage'],
  },
  approval: {
    changes: ['requested', 'approved', 'declined', 'canceled', 'expired', 'used'],
    schema: 'Approval',
    own: 'orders.read',
    orderId: null,
    all: [],
  },
  payment: {
    changes: ['created', 'requires_action', 'succeeded', 'failed', 'canceled'],
    schema: 'Payment',
    own: 'payments.read',
    orderId: 'order_id',
    all: ['payments.manage'],
  },
  refund: {
    changes: ['created', 'succeeded', 'failed'],
    schema: 'Refund',
    own: 'payments.read',
    orderId: 'order_id',
    all: ['payments.manage'],
  },
  shipment: {
    changes: ['created', 'shipped', 'delivered', 'failed', 'canceled'],
    schema: 'Shipment',
    own: 'orders.read',
    orderId: 'order_id',
    all: ['orders.manage', 'shipments.write'],
  },
  task: { changes: ['succeeded', 'failed', 'canceled'], schema: 'Task', own: 'tasks.read', orderId: null, all: [] },
  grant: { changes: ['created', 'updated', 'revoked'], schema: 'ConnectedApp', own: 'connected_apps.read', orderId: null, all: [] },
  webhook_endpoint: { changes: ['test', 'disabled'], schema: 'WebhookEndpoint', own: 'webhooks.read', orderId: null, all: [] },
} as const satisfies Record<
  string,
  {
    changes: readonly [string, ...string[]];
    schema: string;
    own: Scope | null;
    orderId: 'id' | 'order_id' | null;
    all: readonly Scope[];
  }
>;

export type EventSubject = keyof typeof eventSubjectDefinitions;
type EventTypeOf<Subject extends EventSubject> = `${Subject}.${(typeof eventSubjectDefinitions)[Subject]['changes'][number]}`;
export type EventType = { [Subject in EventSubject]: EventTypeOf<Subject> }[EventSubject];

const isSubject = (name: string): name is EventSubject => Object.hasOwn(eventSubjectDefinitions, name);
const subjects = Object.keys(eventSubjectDefinitions).filter(isSubject);

const eventTypesOf = (subject: EventSubject): EventType[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the inferred type combines every subject with every change
  eventSubjectDefinitions[subject].changes.map((change) => `${subject}.${change}` as EventType);

const [firstSubject, ...moreSubjects] = subjects;
const [firstType, ...moreTypes] = subjects.flatMap(eventTypesOf);
if (firstSubject === undefined || firstType === undefined) throw new Error('no event subject is declared');

/** Event types. Every event is recorded in the same transaction as the change that it reports. More types may be added. */
export const eventTypes: readonly [EventType, ...EventType[]] = [firstType, ...moreTypes];

/** Wildcards such as `order.*`: all types of one subject, including types that are added later. */
export const eventTypeWildcards = [firstSubject, ...moreSubjects].map((subject): EventTypeWildcard => `${subject}.*`);
export type EventTypeWildcard = `${EventSubject}.*`;

export const eventSchema = withSchemaName(
  'Event',
  z.object({
    id: idSchema.describe('Sequence number of the event. Pass this number as `after` to get the events that follow.'),
    type: z.string().describe('Event type, such as `order.paid`. More types may be added.'),
    api_version: z.string().describe('API version that defines the format of `data`.'),
    timestamp: timestampSchema.describe('When the change was made.'),
    user_id: idSchema.nullable().describe('User who owns the resource that changed; `null` if the resource belongs to the shop.'),
    subject: withSchemaName(
      'EventSubject',
      z.object({
        type: z.string().describe('Type of the resource that changed, such as `order`.'),
        id: idSchema,
        version: z
          .number()
          .int()
          .nullable()
          .describe(
            'Version number of the resource, incremented on every change. Of two events about the same resource, the one with the higher version is newer.',
          ),
      }),
    ),
    data: withSchemaName(
      'EventData',
      z.object({ object: z.record(z.unknown()).describe('The resource as returned by the API immediately after the change.') }),
    ),
  }),
);

export const eventPageSchema = withSchemaName(
  'EventPage',
  z.object({
    data: z.array(eventSchema).max(100),
    has_more: z.boolean().describe('Whether more events are available now.'),
    next_after: z.number().int().min(0).describe('Pass this value as `after` to get the next page.'),
    latest_id: z
      .number()
      .int()
      .min(0)
      .describe('ID of the newest event, even if the token does not permit reading it; 0 if there are no events.'),
  }),
);

export const eventRoutes = defineResource('Events', 'Sequential log of all changes.', {
  list: {
    method: 'GET',
    path: '/events',
    query: z
      .object({
        limit: paginationParameters.limit,
        after: integerInUrlSchema(0, Number.MAX_SAFE_INTEGER)
          .optional()
          .describe('Only events that follow the event with this ID (default: all stored events).'),
        wait: integerInUrlSchema(0, maxEventWaitSeconds)
          .default('0')
          .describe('Maximum time to wait for a new event if there is none yet (long polling), in seconds.'),
        type: commaSeparatedEnumSchema([...eventTypes, ...eventTypeWildcards])
          .optional()
          .describe('Only events of these types; `order.*` matches every type that begins with `order.`.'),
        subject_type: z.enum([firstSubject, ...moreSubjects]).optional(),
        subject_id: idInUrlSchema.optional(),
      })
      .strict(),
    summary: 'List events',
    description: `Returns events in the order of their IDs. To see an event, the token needs the scopes that are required to read the event's resource. An event becomes visible after the change that it describes has been committed. The ID of a new event is greater than the IDs of all events that were already visible. Events are stored for ${eventRetentionDays} days. If the events that follow \`after\` are no longer stored, the response is 410.`,
    responses: { 200: eventPageSchema, ...fails(...problemCodesOfAuthenticatedOperations, 'gone') },
    metadata: declareRouteMetadata({ operationId: 'events.list', access: ['events.read'] }),
  },
  get: {
    method: 'GET',
    path: '/events/:event_id',
    pathParams: z.object({ event_id: pathIdSchema('ID of the event.') }),
    summary: 'Get an event',
    description: 'Returns the event if it is still stored and the token gives access to the resource that the event is about.',
    responses: { 200: eventSchema, ...fails(...problemCodesOfAuthenticatedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'events.get', access: ['events.read'] }),
  },
});
export type Event = z.output<typeof eventSchema>;
export type EventPage = z.output<typeof eventPageSchema>;
