import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { FakeIdentityProvider, insertIdentityProvider } from './fake-identity-provider.ts';

/** Starts a provider before the tests in a file, stores it in the server's database, and stops it after the tests. */
export function useIdentityProvider(
  server: { readonly db: Database },
  fields: Parameters<typeof insertIdentityProvider>[2],
): FakeIdentityProvider {
  const provider = new FakeIdentityProvider();
  beforeAll(async () => {
    await provider.start();
    await insertIdentityProvider(server.db, provider, fields);
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.stop());
  return provider;
}
