import { describe, expect, test } from 'vitest';
import { deleteUnusedApplicationsBatch } from '../../../server/access-management/delete-unused-applications.ts';
import type { Body } from '../../support/server/start-mandate.ts';
import { MetadataDocumentShop, newDocumentPath } from '../../support/oauth/metadata-document-shop.ts';
import { authorize, commandLine, redeem, refresh, refusal, tokenResponse } from '../../support/oauth/oauth-flow.ts';

const shop = new MetadataDocumentShop();
const request = (clientId: string, parameters: Record<string, string> = {}) => ({ client_id: clientId, ...parameters });

describe('an application with a metadata document', () => {
  const connect = async (clientId: string, scope: string) =>
    tokenResponse.parse(
      await (await redeem(shop.mandate.origin, await authorize(shop.mandate.origin, shop.anna, request(clientId, { scope })))).json(),
    );

  test('is listed with its registration type, and the registration is audited', async () => {
    const clientId = shop.documents.publish(newDocumentPath(), { scope: 'orders.read' });
    await shop.open(clientId);
    expect(await shop.registered(clientId)).toMatchObject({ type: 'public', registration: 'metadata_document', first_party: false });
    const [event] = await shop.auditOf(clientId);
    expect(event).toMatchObject({
      action: 'application.registered',
      details: { registration: 'metadata_document', scopes: ['orders.read'] },
    });
  });

  test('is a connected app that the user can remove', async () => {
    const clientId = shop.documents.publish(newDocumentPath());
    const { access_token: token } = await connect(clientId, 'openid connected_apps.read connected_apps.write');
    const { body } = await shop.mandate.call('GET', '/api/v1/connected-apps', { token });
    expect(body.data[0].application).toEqual({ client_id: clientId, name: 'Test assistant', first_party: false });
    expect((await shop.mandate.call('DELETE', `/api/v1/connected-apps/${body.data[0].id}`, { token })).status).toBe(204);
    expect((await shop.mandate.call('GET', '/api/v1/connected-apps', { token })).status).toBe(401);
  });

  test('gets no tokens and no sign-in after an administrator disables it, and its document is not fetched', async () => {
    const path = newDocumentPath();
    const clientId = shop.documents.publish(path);
    const tokens = await connect(clientId, 'openid orders.read');
    const { id } = await shop.registered(clientId);
    const disabled = await shop.mandate.call('PATCH', `/api/v1/applications/${id}`, { token: shop.token, body: { status: 'disabled' } });
    expect(disabled.body).toMatchObject({ status: 'disabled' });
    await shop.expire(clientId);
    const before = shop.documents.requested.length;
    expect((await shop.mandate.call('GET', '/api/v1/orders', { token: tokens.access_token })).status).toBe(401);
    expect(await refusal(await refresh(shop.mandate.origin, tokens.refresh_token ?? '', { client_id: clientId }))).toBe(
      '401 invalid_client',
    );
    expect((await shop.open(clientId)).response.status).toBe(400);
    expect(shop.documents.requested).toHaveLength(before);
    const inOneYear = new Date(Date.now() + 400 * 86_400_000);
    await deleteUnusedApplicationsBatch(shop.em(), inOneYear);
    expect(await shop.registered(clientId)).toMatchObject({ status: 'disabled' });
  });

  test('can get a rate limit from an administrator, but its scopes come from the document', async () => {
    const clientId = shop.documents.publish(newDocumentPath());
    await shop.open(clientId);
    const { id } = await shop.registered(clientId);
    const limited = await shop.mandate.call('PATCH', `/api/v1/applications/${id}`, {
      token: shop.token,
      body: { rate_limit_per_minute: 10 },
    });
    expect([limited.status, limited.body.rate_limit_per_minute]).toEqual([200, 10]);
    const body = { scopes: ['users.manage'], preapproved_scopes: ['openid'] };
    const refused = await shop.mandate.call('PATCH', `/api/v1/applications/${id}`, { token: shop.token, body });
    expect([refused.status, refused.body.errors.map(({ pointer }: Body) => pointer)]).toEqual([400, ['#/scopes', '#/preapproved_scopes']]);
  });

  test('is removed if no user has allowed it, and registered again at the next sign-in', async () => {
    const [unused, used] = [shop.documents.publish(newDocumentPath()), shop.documents.publish(newDocumentPath())];
    await shop.open(unused);
    await connect(used, 'openid orders.read');
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    await deleteUnusedApplicationsBatch(shop.em(), inDays(0.9));
    expect(await shop.registered(unused)).toBeDefined();
    await deleteUnusedApplicationsBatch(shop.em(), inDays(1.1));
    expect([await shop.registered(unused), await shop.registered(used)]).toEqual([undefined, expect.anything()]);
    expect((await shop.auditOf(unused))[0]).toMatchObject({ action: 'application.deleted', actor_id: null, details: { reason: 'unused' } });
    await shop.open(unused);
    expect(await shop.registered(unused)).toBeDefined();
    await deleteUnusedApplicationsBatch(shop.em(), inDays(91));
    expect(await shop.registered(used)).toBeUndefined();
    const applications = await shop.mandate.call('GET', '/api/v1/applications?limit=100', { token: shop.token });
    expect(applications.body.data.map((application: Body) => application.client_id)).toContain(commandLine.clientId);
  });
});
