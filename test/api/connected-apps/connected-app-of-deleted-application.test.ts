import { expect, test } from 'vitest';
import { connectedAppResponseFromFields } from '../../../server/oauth/grants/connected-app-response-and-applications.ts';

const fields = { id: 7, clientId: 'app-1', scopes: ['orders.read'], createdAt: '2030-01-01T12:00:00Z' };

test('a connected app whose application was deleted has the client ID as its name, and is not a first-party application', () => {
  expect(connectedAppResponseFromFields(fields, undefined)).toEqual({
    id: 7,
    application: { client_id: 'app-1', name: 'app-1', first_party: false },
    device: null,
    scopes: ['orders.read'],
    created_at: '2030-01-01T12:00:00.000Z',
    last_used_at: '2030-01-01T12:00:00.000Z',
  });
});

test('a connected app has the name and kind of its application, its device and its last use', () => {
  const used = { ...fields, device: 'Firefox on Linux', lastUsedAt: new Date('2030-01-02T12:00:00Z') };
  expect(connectedAppResponseFromFields(used, { name: 'Shop', firstParty: true })).toMatchObject({
    application: { client_id: 'app-1', name: 'Shop', first_party: true },
    device: 'Firefox on Linux',
    created_at: '2030-01-01T12:00:00.000Z',
    last_used_at: '2030-01-02T12:00:00.000Z',
  });
});
