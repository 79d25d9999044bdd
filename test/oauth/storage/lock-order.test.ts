import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { useServer } from '../../support/server/with-server.ts';
import { authorize, commandLine, redeem, refresh, signUp, tokenResponse } from '../../support/oauth/oauth-flow.ts';

// Each of these requests revokes the whole grant, and starts with a lock on a different record of the grant.
describe.skipIf(databaseKind === 'pglite')('concurrent code replays, refresh token reuse and revocations of one grant', () => {
  const server = useServer();

  test('acquire locks in one order, so that no deadlock or server error occurs', async () => {
    const person = await signUp(server.origin);
    for (let round = 0; round < 15; round += 1) {
      const granted = await authorize(server.origin, person, { scope: 'openid users.read' });
      const tokens = tokenResponse.parse(await (await redeem(server.origin, granted)).json());
      const renewed = tokenResponse.parse(await (await refresh(server.origin, tokens.refresh_token ?? '')).json());
      const revoke = (token: string) =>
        fetch(`${server.origin}/oauth/revocation`, {
          method: 'POST',
          body: new URLSearchParams({ client_id: commandLine.clientId, token }),
        });
      const responses = await Promise.all([
        redeem(server.origin, granted),
        refresh(server.origin, tokens.refresh_token ?? ''),
        revoke(renewed.access_token),
        revoke(renewed.refresh_token ?? ''),
        redeem(server.origin, granted),
        refresh(server.origin, renewed.refresh_token ?? ''),
      ]);
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect((await refresh(server.origin, renewed.refresh_token ?? '')).status).toBe(400);
    }
    expect(server.failures).toEqual([]);
  });
});
