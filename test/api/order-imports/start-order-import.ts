import type { ApiResponse } from '../../support/server/start-mandate.ts';
import type { Shop } from '../../support/shop/with-shop.ts';

/** Starts an import that creates unknown customers and products, with prices in EUR unless `query` specifies a different currency. */
export const startOrderImport = (shop: Shop, body: string, query: object = {}, contentType = 'text/csv'): Promise<ApiResponse> => {
  const rules = { source: 'old-shop', unknown_customers: 'create', unknown_products: 'create', currency: 'EUR', ...query };
  return shop.callApi('POST', `/api/v1/order-imports?${new URLSearchParams(rules).toString()}`, {
    token: shop.token,
    body,
    headers: { 'content-type': contentType },
  });
};
