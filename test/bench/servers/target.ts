import type { HttpBrowser } from '../../support/browser/browser.ts';
import type { ClientCredentials } from '../../support/oauth/oauth-flow.ts';
import type { MeasuredServer } from './measured-server.ts';
import type { ShopSize } from './fill-shop.ts';

export type ServerName = 'mandate' | 'mandate-pglite' | 'floor' | 'fastify' | 'orm' | 'oidc-provider';

/** A customer with an access token. Every token has its own grant. */
export type Customer = { readonly userId: number; readonly token: string };

/** A server that receives requests, and the data that these requests need. */
export type Target = {
  readonly measuredServer: MeasuredServer;
  readonly shop: ShopSize;
  /** Obtains a new staff token with the client credentials grant. */
  readonly token: () => Promise<string>;
  readonly client: ClientCredentials;
  /** A website that the shop operates. */
  readonly website: ClientCredentials & { readonly redirectUri: string };
  /** Returns one browser for each customer, with the customer signed in. */
  readonly browsers: () => Promise<readonly HttpBrowser[]>;
  /** Returns customers with valid tokens for the website. */
  readonly customers: () => Promise<readonly Customer[]>;
};
