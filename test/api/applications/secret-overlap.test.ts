import { expect, test } from 'vitest';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { sendTokenRequest, basicAuthorization } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

const call = (method: string, path: string, body: object): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1/applications${path}`, { token: shop.token, body });

test('a rotation without overlap immediately invalidates both earlier secrets', async () => {
  const machine = { name: 'Machine', type: 'confidential', grant_types: ['client_credentials'], scopes: ['orders.read'] };
  const { body: application } = await call('POST', '', machine);
  const rotate = async (seconds: number): Promise<string> =>
    (await call('POST', `/${application.id}/secret-rotations`, { overlap_seconds: seconds })).body.client_secret;
  const statusWith = async (secret: string): Promise<number> =>
    (await sendTokenRequest(shop.origin, { grant_type: 'client_credentials' }, basicAuthorization(application.client_id, secret))).status;
  const first: string = application.client_secret;
  const second = await rotate(3_600);
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
  const third = await rotate(0);
  expect([await statusWith(first), await statusWith(second), await statusWith(third)]).toEqual([401, 401, 200]);
});
