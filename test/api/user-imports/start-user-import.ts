import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { completeImport } from '../../support/shop/run-tasks.ts';
import type { Account, Shop } from '../../support/shop/with-shop.ts';

export const startUserImport = (
  shop: Shop,
  administrator: Account,
  body: string,
  query: object = {},
  contentType = 'text/csv',
): Promise<ApiResponse> =>
  shop.callApi('POST', `/api/v1/user-imports?${new URLSearchParams({ source: 'old-shop', ...query }).toString()}`, {
    token: administrator.token,
    body,
    headers: { 'content-type': contentType },
  });

/** Imports users and returns the completed task, the remarks and the counts. */
export const importUsers = async (shop: Shop, administrator: Account, body: string, query: object = {}, contentType?: string) =>
  completeImport(shop, administrator.token, await startUserImport(shop, administrator, body, query, contentType));
