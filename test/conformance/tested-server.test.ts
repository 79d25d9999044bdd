import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAuthority } from '../support/application-keys/client-certificates.ts';
import { databaseKind } from '../support/services/database.ts';
import { conformancePlans } from './conformance-plans.ts';
import { createConformanceClients } from './plan-configuration.ts';
import { startTestedServer } from './tested-server.ts';

/** Tests everything that the suite needs from this server, without running the suite. */
test.skipIf(databaseKind !== 'postgresql')('the tested server accepts the applications of every plan', { timeout: 120_000 }, async () => {
  const authority = createAuthority();
  await using server = await startTestedServer(authority);
  const discovery = await fetch(`${server.issuer}/.well-known/openid-configuration`);
  const metadata = z.object({ issuer: z.string(), registration_endpoint: z.string() }).parse(await discovery.json());
  expect(metadata.issuer).toBe(server.issuer);
  for (const plan of conformancePlans) {
    const clients = createConformanceClients(plan, { suiteOrigin: 'https://localhost:8443', alias: 'mandate', authority });
    const credentials = await server.registerClients(clients.map(({ registration }) => registration));
    // an application with the security profile has keys or a certificate instead of a secret
    const hasSecret = credentials.map(({ client_secret: secret }) => secret !== null);
    expect(hasSecret, plan.id).toEqual(clients.map(() => plan.fapi2 === undefined));
  }

  const response = await fetch(metadata.registration_endpoint, {
    method: 'POST',
    headers: { authorization: `Bearer ${await server.createRegistrationToken()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Suite', redirect_uris: ['https://localhost:8443/callback'] }),
  });
  const { client_id: clientId } = z.object({ client_id: z.string() }).parse(await response.json());
  await server.allowNeitherPkceNorNonce(clientId);
  await expect(server.allowNeitherPkceNorNonce('unknown')).rejects.toThrow('there is no application unknown');
  const readKeyIds = async () => {
    const keys = await fetch(`${server.issuer}/oauth/jwks`);
    return z
      .object({ keys: z.array(z.object({ kid: z.string() })) })
      .parse(await keys.json())
      .keys.map(({ kid }) => kid);
  };
  const before = await readKeyIds();
  await server.rotateSigningKeys();
  expect((await readKeyIds()).filter((kid) => !before.includes(kid))).not.toEqual([]);
});
