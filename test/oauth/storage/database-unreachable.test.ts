import type { AdapterFactory } from 'oidc-provider';
import { describe, expect, test } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createPostgresAdapterFactory } from '../../../server/oauth/provider/postgres-adapter.ts';
import { buildAuthorizationRequest, authorizationPath, sendRefreshRequest, signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

let isUnreachable = false;

/** Creates a store that fails with ECONNREFUSED while `isUnreachable` is true. */
function createUnreliableStore(em: EntityManager): AdapterFactory {
  const create = createPostgresAdapterFactory(em);
  return (model) => {
    const store = create(model);
    const find = store.find.bind(store);
    store.find = async (id) => {
      if (isUnreachable) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return find(id);
    };
    return store;
  };
}

describe('while the database is unreachable', () => {
  const server = useServer({ store: createUnreliableStore });

  test('a refresh returns 503 and can be retried, and a page asks the user to try again', async () => {
    const person = await signUp(server.origin);
    const { refresh_token: token = '' } = await obtainTokens(server.origin, person, ['users.read']);
    isUnreachable = true;
    const refused = await sendRefreshRequest(server.origin, token);
    const page = await person.browser.open(authorizationPath(buildAuthorizationRequest().query));
    isUnreachable = false;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect(page.response.status).toBe(503);
    expect(page.text).toContain('Please try again in a minute');
    expect((await sendRefreshRequest(server.origin, token)).status).toBe(200);
  });
});
