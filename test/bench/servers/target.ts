import type { Browser } from '../../support/browser/browser.ts';
import type { Client } from '../../support/oauth/oauth-flow.ts';
import type { Candidate } from './server-under-test.ts';
import type { ShopSize } from './fill-shop.ts';

export type ServerName = 'mandate' | 'mandate-pglite' | 'floor' | 'fastify' | 'orm' | 'oidc-provider';

/** A server to send requests to, and what they need. */
export type Target = {
  readonly candidate: Candidate;
  readonly shop: ShopSize;
  /** A token that is new, of an application that acts for the staff. */
  readonly token: () => Promise<string>;
  readonly client: Client;
  /** A website that people sign in to, and the browsers of some who did. */
  readonly website: Client & { readonly redirectUri: string };
  readonly browsers: () => Promise<readonly Browser[]>;
};
