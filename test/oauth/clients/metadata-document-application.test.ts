import { describe, expect, test } from 'vitest';
import { deleteUnusedSelfRegisteredAppsBatch } from '../../../server/access-management/delete-unused-self-registered-apps.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { ClientMetadataFixture, createDocumentPath } from '../../support/oauth/client-metadata-fixture.ts';
import {
  obtainAuthorizationCode,
  cliClient,
  redeemCode,
  sendRefreshRequest,
  readOAuthError,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

const shop = new ClientMetadataFixture();
const request = (clientId: string, parameters: Record<string, string> = {}) => ({ client_id: clientId, ...parameters });

describe('an application with a metadata document', () => {
  const connect = async (clientId: string, scope: string) =>
    tokenResponseSchema.parse(
      await (
        await redeemCode(shop.mandate.origin, await obtainAuthorizationCode(shop.mandate.origin, shop.anna, request(clientId, { scope })))
      ).json(),
    );

  test('is listed with its registration type, and the registration is audited', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), { scope: 'orders.read' });
    await shop.openAuthorization(clientId);
    expect(await shop.findApplication(clientId)).toMatchObject({ type: 'public', registration: 'metadata_document', first_party: false });
    const [event] = await shop.readAuditEvents(clientId);
    expect(event).toMatchObject({
      action: 'application.registered',
      details: { registration: 'metadata_document', scopes: ['orders.read'] },
    });
  });

  test('is a connected app that the user can remove', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath());
    const { access_token: token } = await connect(clientId, 'openid connected_apps.read connected_apps.write');
    const { body } = await shop.mandate.callApi('GET', '/api/v1/connected-apps', { token });
    expect(body.data[0].application).toEqual({ client_id: clientId, name: 'Test assistant', first_party: false });
    expect((await shop.mandate.callApi('DELETE', `/api/v1/connected-apps/${body.data[0].id}`, { token })).status).toBe(204);
    expect((await shop.mandate.callApi('GET', '/api/v1/connected-apps', { token })).status).toBe(401);
  });

  test('cannot get tokens or sign users in after an administrator disables it, and its document is not fetched', async () => {
    const path = createDocumentPath();
    const clientId = shop.metadataServer.publishMetadata(path);
    const tokens = await connect(clientId, 'openid orders.read');
    const { id } = await shop.findApplication(clientId);
    const disabled = await shop.mandate.callApi('PATCH', `/api/v1/applications/${id}`, {
      token: shop.adminToken,
      body: { status: 'disabled' },
    });
    expect(disabled.body).toMatchObject({ status: 'disabled' });
    await shop.expireMetadata(clientId);
    const before = shop.metadataServer.requestedPaths.length;
    expect((await shop.mandate.callApi('GET', '/api/v1/orders', { token: tokens.access_token })).status).toBe(401);
    expect(await readOAuthError(await sendRefreshRequest(shop.mandate.origin, tokens.refresh_token ?? '', { client_id: clientId }))).toBe(
      '401 invalid_client',
    );
    expect((await shop.openAuthorization(clientId)).response.status).toBe(400);
    expect(shop.metadataServer.requestedPaths).toHaveLength(before);
    const inOneYear = new Date(Date.now() + 400 * 86_400_000);
    await deleteUnusedSelfRegisteredAppsBatch(shop.forkEntityManager(), inOneYear);
    expect(await shop.findApplication(clientId)).toMatchObject({ status: 'disabled' });
  });

  test('can get a rate limit from an administrator, but its scopes come from the document', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath());
    await shop.openAuthorization(clientId);
    const { id } = await shop.findApplication(clientId);
    const limited = await shop.mandate.callApi('PATCH', `/api/v1/applications/${id}`, {
      token: shop.adminToken,
      body: { rate_limit_per_minute: 10 },
    });
    expect([limited.status, limited.body.rate_limit_per_minute]).toEqual([200, 10]);
    const body = { scopes: ['users.manage'], preapproved_scopes: ['openid'] };
    const refused = await shop.mandate.callApi('PATCH', `/api/v1/applications/${id}`, { token: shop.adminToken, body });
    expect([refused.status, refused.body.errors.map(({ pointer }: JsonBody) => pointer)]).toEqual([
      400,
      ['#/scopes', '#/preapproved_scopes'],
    ]);
  });

  test('is removed if no user has given it access, and registered again at the next sign-in', async () => {
    const [unused, used] = [
      shop.metadataServer.publishMetadata(createDocumentPath()),
      shop.metadataServer.publishMetadata(createDocumentPath()),
    ];
    await shop.openAuthorization(unused);
    await connect(used, 'openid orders.read');
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    await deleteUnusedSelfRegisteredAppsBatch(shop.forkEntityManager(), inDays(0.9));
    expect(await shop.findApplication(unused)).toBeDefined();
    await deleteUnusedSelfRegisteredAppsBatch(shop.forkEntityManager(), inDays(1.1));
    expect([await shop.findApplication(unused), await shop.findApplication(used)]).toEqual([undefined, expect.anything()]);
    expect((await shop.readAuditEvents(unused))[0]).toMatchObject({
      action: 'application.deleted',
      actor_id: null,
      details: { reason: 'unused' },
    });
    await shop.openAuthorization(unused);
    expect(await shop.findApplication(unused)).toBeDefined();
    await deleteUnusedSelfRegisteredAppsBatch(shop.forkEntityManager(), inDays(91));
    expect(await shop.findApplication(used)).toBeUndefined();
    const applications = await shop.mandate.callApi('GET', '/api/v1/applications?limit=100', { token: shop.adminToken });
    expect(applications.body.data.map((application: JsonBody) => application.client_id)).toContain(cliClient.clientId);
  });
});
