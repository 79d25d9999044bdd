import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { useServer } from '../../support/server/use-server.ts';
import {
  obtainAuthorizationCode,
  cliClient,
  redeemCode,
  sendRefreshRequest,
  signUp,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

// Each of these requests revokes the whole grant, but each one first locks a different database record.
describe.skipIf(databaseKind === 'pglite')('concurrent code replays, refresh token reuse and revocations of one grant', () => {
  const server = useServer();

  test('acquire locks in one order, so that no deadlock or server error occurs', async () => {
    const person = await signUp(server.origin);
    for (let round = 0; round < 15; round += 1) {
      const granted = await obtainAuthorizationCode(server.origin, person, { scope: 'openid users.read' });
      const tokens = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
      const renewed = tokenResponseSchema.parse(await (await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).json());
      const revoke = (token: string) =>
        fetch(`${server.origin}/oauth/revocation`, {
          method: 'POST',
          body: new URLSearchParams({ client_id: cliClient.clientId, token }),
        });
      const responses = await Promise.all([
        redeemCode(server.origin, granted),
        sendRefreshRequest(server.origin, tokens.refresh_token ?? ''),
        revoke(renewed.access_token),
        revoke(renewed.refresh_token ?? ''),
        redeemCode(server.origin, granted),
        sendRefreshRequest(server.origin, renewed.refresh_token ?? ''),
      ]);
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect((await sendRefreshRequest(server.origin, renewed.refresh_token ?? '')).status).toBe(400);
    }
    expect(server.warnings).toEqual([]);
  });
});
