import { maxWebhookEndpoints } from '@mandate/contract';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import type { AuthorizationRows, Statuses } from '../../support/shop/authorization-matrix.ts';

type Fixture = Exclude<Parameters<AuthorizationRows[string]['send']>[0], undefined>;

const endpointBody = { url: 'https://receiver.example.com/hooks', events: ['order.paid'] };

/**
 * An endpoint is visible only to the application that created it, and only on behalf of the same user. Even the user's own API key receives
 * 404.
 */
const endpointCreatorStatuses = (status: number): Statuses => [401, 403, 404, status, 404, 404, 404, 404];

const createEndpoint = async ({ createResource, tokens }: Fixture): Promise<number> =>
  (await createResource('POST', '/webhook-endpoints', endpointBody, tokens.owner)).id;

/** Sends a test event to an endpoint, and returns the ID of its delivery. */
async function createDelivery({ createResource, shop, tokens }: Fixture, endpointId: number): Promise<number> {
  const path = `/webhook-endpoints/${endpointId}`;
  await createResource('POST', `${path}/test-events`, undefined, tokens.owner);
  await assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents);
  const { body } = await shop.callApi('GET', `/api/v1${path}/deliveries`, { token: tokens.owner ?? '' });
  return body.data[0].id;
}

/** Creates an endpoint. If the number of endpoints is close to the limit, deletes endpoints from earlier tests first, except `sharedId`. */
async function createEndpointBelowLimit(fixture: Fixture, sharedId: number): Promise<number> {
  const { shop, tokens } = fixture;
  const call = { token: tokens.owner ?? '' };
  const { data }: JsonBody = (await shop.callApi('GET', '/api/v1/webhook-endpoints?limit=100', call)).body;
  if (data.length > maxWebhookEndpoints - 5) {
    const otherIds: number[] = data.map(({ id }: JsonBody) => id).filter((id: number) => id !== sharedId);
    await Promise.all(otherIds.map((id) => shop.callApi('DELETE', `/api/v1/webhook-endpoints/${id}`, call)));
  }
  return createEndpoint(fixture);
}

/** Creates the rows of the authorization matrix for webhook endpoints and their deliveries. */
export function createWebhookRows(): AuthorizationRows {
  let endpointId: Promise<number> | undefined;
  let deliveryId: Promise<number> | undefined;
  const sharedEndpoint = (fixture: Fixture): Promise<number> => (endpointId ??= createEndpoint(fixture));
  const sharedDelivery = async (fixture: Fixture): Promise<number> =>
    (deliveryId ??= createDelivery(fixture, await sharedEndpoint(fixture)));
  const pathOf = async (fixture: Fixture): Promise<string> => `/webhook-endpoints/${await sharedEndpoint(fixture)}`;
  return {
    'webhooks.list': { send: () => ['GET', '/webhook-endpoints'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
    'webhooks.create': { send: () => ['POST', '/webhook-endpoints', endpointBody], statuses: [401, 403, 201, 201, 201, 201, 201, 201] },
    'webhooks.get': { send: async (fixture) => ['GET', await pathOf(fixture)], statuses: endpointCreatorStatuses(200) },
    'webhooks.update': { send: async (fixture) => ['PATCH', await pathOf(fixture), {}], statuses: endpointCreatorStatuses(200) },
    'webhooks.delete': {
      send: async (fixture) => ['DELETE', `/webhook-endpoints/${await createEndpointBelowLimit(fixture, await sharedEndpoint(fixture))}`],
      statuses: endpointCreatorStatuses(204),
    },
    'webhooks.rotateSecret': {
      send: async (fixture) => ['POST', `${await pathOf(fixture)}/secret-rotations`, { overlap_seconds: 0 }],
      statuses: endpointCreatorStatuses(201),
    },
    'webhooks.deliveries': {
      send: async (fixture) => ['GET', `${await pathOf(fixture)}/deliveries`],
      statuses: endpointCreatorStatuses(200),
    },
    'webhooks.getDelivery': {
      send: async (fixture) => ['GET', `${await pathOf(fixture)}/deliveries/${await sharedDelivery(fixture)}`],
      statuses: endpointCreatorStatuses(200),
    },
    'webhooks.redeliver': {
      send: async (fixture) => ['POST', `${await pathOf(fixture)}/redeliveries`, { from_event_id: 1 }],
      statuses: endpointCreatorStatuses(202),
    },
    'webhooks.test': {
      send: async (fixture) => ['POST', `${await pathOf(fixture)}/test-events`],
      statuses: endpointCreatorStatuses(202),
    },
  };
}
