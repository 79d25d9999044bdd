import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMandateServer, type ApiResponse, type MandateServer } from '../../support/server/start-mandate.ts';
import { sendTokenRequest, basicAuthorization } from '../../support/oauth/oauth-flow.ts';
import { createTestShop, type TestShop } from '../../support/server/test-shop.ts';

let mandate: MandateServer;
let shop: TestShop;
beforeAll(async () => {
  mandate = await startMandateServer();
  shop = await createTestShop(mandate);
});
afterAll(() => mandate.close());

const call = (method: string, path: string, body: object): Promise<ApiResponse> =>
  mandate.callApi(method, `/api/v1/applications${path}`, { token: shop.token, body });

test('a rotation without overlap immediately invalidates both earlier secrets', async () => {
  const machine = { name: 'Machine', type: 'confidential', grant_types: ['client_credentials'], scopes: ['orders.read'] };
  const { body: application } = await call('POST', '', machine);
  const rotate = async (seconds: number): Promise<string> =>
    (await call('POST', `/${application.id}/secret-rotations`, { overlap_seconds: seconds })).body.client_secret;
  const statusWith = async (secret: string): Promise<number> =>
    (await sendTokenRequest(mandate.origin, { grant_type: 'client_credentials' }, basicAuthorization(application.client_id, secret)))
      .status;
  const first: string = application.client_secret;
  const second = await rotate(3_600);
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
  const third = await rotate(0);
  expect([await statusWith(first), await statusWith(second), await statusWith(third)]).toEqual([401, 401, 200]);
});
