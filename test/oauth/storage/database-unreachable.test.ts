import type { AdapterFactory } from 'oidc-provider';
import { describe, expect, test } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager.ts';
import { createPostgresAdapterFactory } from '../../../server/oauth/provider/postgres-adapter.ts';
import { authorizationRequest, authorizePath, refresh, signUp, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';

let away = false;

/** One that cannot reach its database from time to time. */
function mortalStore(em: EntityManager): AdapterFactory {
  const create = createPostgresAdapterFactory(em);
  return (model) => {
    const store = create(model);
    const find = store.find.bind(store);
    store.find = async (id) => {
      if (away) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return find(id);
    };
    return store;
  };
}

describe('while the database cannot be reached', () => {
  const server = useServer({ store: mortalStore });

  test('a refresh is answered 503 and can be repeated, and a page says that it is over soon', async () => {
    const person = await signUp(server.origin);
    const { refresh_token: token = '' } = await tokensFor(server.origin, person, ['users.read']);
    away = true;
    const refused = await refresh(server.origin, token);
    const page = await person.browser.open(authorizePath(authorizationRequest().query));
    away = false;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect(page.response.status).toBe(503);
    expect(page.text).toContain('Please try again in a minute');
    expect((await refresh(server.origin, token)).status).toBe(200);
  });
});
