import { createClient } from '@mandate/client-sdk';
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
import { queryOptions } from '@mandate/client-sdk/query';

const service = import.meta.env.VITE_API_URL ?? 'http://localhost:3000';

export const signIn = browserSignIn({
  issuer: service,
  clientId: import.meta.env.VITE_CLIENT_ID ?? 'storefront',
  redirectUri: `${location.origin}/`,
  scopes: ['openid', 'offline_access', 'users.read', 'orders.read', 'orders.write', 'payments.read', 'payments.write', 'events.read'],
});

export const customerClient = createClient({ baseUrl: service, auth: signIn.auth });

/** The product catalog is public, so visitors can browse it without signing in. */
export const visitorApi = queryOptions(createClient({ baseUrl: service }));
export const customerApi = queryOptions(customerClient);
