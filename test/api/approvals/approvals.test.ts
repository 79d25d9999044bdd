import type { JsonBody } from '../../support/server/start-mandate.ts';
import { connectRequestingApplication, requestApprovalOf60 } from '../../support/shop/approval-requests.ts';
import { staffStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';

const fixture = testAuthorization({
  'approvals.create': {
    send: async ({ createResource, shop, owner }) => {
      await moveRequestsToAnotherGrant();
      const { id } = await createResource('POST', '/quotes', buildOrderInput([await shop.createProduct(), 1]), owner.token);
      return ['POST', '/approvals', { quote_id: id }];
    },
    // Only the application that created the quote can request an approval. Applications without a user, and API keys, act without a grant.
    statuses: [401, 403, 400, 201, 400, 400, 403, 403],
  },
  'approvals.list': { send: () => ['GET', '/approvals'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
  'approvals.listAll': { send: () => ['GET', '/approvals/all'], statuses: staffStatuses(200) },
  'approvals.get': {
    send: async () => ['GET', `/approvals/${(await requestOfOwner()).id}`],
    statuses: [401, 403, 404, 200, 404, 404, 404, 200],
  },
  'approvals.approve': {
    send: async () => ['POST', `/approvals/${(await requestOfOwner()).id}/approval`],
    statuses: [401, 403, 404, 201, 404, 404, 403, 403],
  },
  'approvals.decline': {
    send: async () => ['POST', `/approvals/${(await requestOfOwner()).id}/decline`],
    statuses: [401, 403, 404, 201, 404, 404, 403, 403],
  },
  'approvals.cancel': {
    send: async ({ createResource, shop, owner }) => {
      await moveRequestsToAnotherGrant();
      const { id: quoteId } = await createResource('POST', '/quotes', buildOrderInput([await shop.createProduct(), 1]), owner.token);
      const { id } = await createResource('POST', '/approvals', { quote_id: quoteId }, owner.token);
      return ['POST', `/approvals/${id}/cancellation`];
    },
    statuses: [401, 403, 404, 201, 404, 404, 404, 404],
  },
});

/** Requests an approval through a third-party application. The owner in the authorization matrix can decide on the request. */
async function requestOfOwner(): Promise<JsonBody> {
  return requestApprovalOf60(await connectRequestingApplication(fixture.shop, fixture.owner));
}

/** Prevents earlier requests from counting toward the limits on the number of requests. */
async function moveRequestsToAnotherGrant(): Promise<void> {
  await fixture.shop.db.em.fork().execute(`update approvals set grant_id = 'another'`);
}
