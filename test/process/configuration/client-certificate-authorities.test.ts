import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createAuthority, createClientCertificate, encodeCertificateHeader } from '../../support/application-keys/client-certificates.ts';
import { sendTokenRequest } from '../../support/oauth/oauth-flow.ts';
import { createDatabaseEnvironment } from '../../support/services/database.ts';
import {
  createDataDirectory,
  killServerProcesses,
  obtainAdministrationToken,
  startServerProcess,
} from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

const application = {
  name: 'Stock robot',
  type: 'confidential',
  grant_types: ['client_credentials'],
  scopes: ['orders.manage'],
  token_endpoint_auth_method: 'tls_client_auth',
  tls_client_auth_subject: { type: 'san_dns', value: 'client.example' },
};

async function createApplication(origin: string, token: string): Promise<string> {
  const response = await fetch(`${origin}/api/v1/applications`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(application),
  });
  return z.object({ client_id: z.string() }).parse(await response.json()).client_id;
}

test('the trusted authorities change with their file, unless the new file is invalid', { timeout: 300_000 }, async () => {
  await using data = await createDataDirectory();
  const path = join(data.path, 'ca.crt');
  const [one, two] = [createAuthority(), createAuthority()];
  const [ofOne, ofTwo] = [createClientCertificate(one), createClientCertificate(two)];
  await writeFile(path, one.cert);
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    ...(await createDatabaseEnvironment()),
    MANDATE_TRUST_PROXY: '127.0.0.1, ::1',
    MANDATE_CLIENT_CERTIFICATES: 'proxy',
    MANDATE_CLIENT_CA: path,
  });
  const clientId = await createApplication(server.url, await obtainAdministrationToken(server.url, data.path));
  const requestTokens = async ({ cert }: { readonly cert: string }): Promise<number> => {
    const headers = { 'client-cert': encodeCertificateHeader(cert) };
    return (await sendTokenRequest(server.url, { grant_type: 'client_credentials', client_id: clientId }, headers)).status;
  };
  expect([await requestTokens(ofOne), await requestTokens(ofTwo)]).toEqual([200, 401]);

  await writeFile(path, one.cert + two.cert);
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => requestTokens(ofTwo), { timeout: 20_000 }).toBe(200);
  expect(await requestTokens(ofOne)).toBe(200);

  await writeFile(path, ofTwo.cert);
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => server.output(), { timeout: 20_000 }).toContain('the new file of MANDATE_CLIENT_CA is invalid');
  expect([await requestTokens(ofOne), await requestTokens(ofTwo)]).toEqual([200, 200]);

  // the server detects a changed file even without SIGHUP
  await writeFile(path, two.cert);
  await expect.poll(() => requestTokens(ofOne), { timeout: 60_000 }).toBe(401);
  expect(await requestTokens(ofTwo)).toBe(200);
  expect(await server.stop()).toBe(0);
});
