/**
 * Signs in at `/mcp` with third-party programs: version 1 of the TypeScript SDK, the MCP Inspector and the Python SDK. `npm run
 * test:assistants` downloads these programs, so the tests do not run with the other tests.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClientMetadataServer, type ClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { createDocumentPath } from '../../support/oauth/client-metadata-fixture.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { startMandateServer, type MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop } from '../../support/shop/test-shop.ts';
import { assistantPrograms } from './assistant-programs.ts';

requireOneProcess('the server fetches documents from loopback');

// oxlint-disable-next-line node/no-process-env -- set by the npm script
const isEnabled = process.env['MANDATE_ASSISTANT_TESTS'] === '1';

describe.skipIf(!isEnabled)('an assistant that knows only the endpoint URL signs in', { timeout: 300_000 }, () => {
  let folder: string;
  let documents: ClientMetadataServer;
  let mandate: MandateServer;
  let productName: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mandate-assistants-'));
    documents = await startClientMetadataServer();
    mandate = await startMandateServer({ documentNetwork: documents.networkPolicy, openRegistration: true });
    productName = (await (await createTestShop(mandate)).createProduct()).name;
  });
  afterAll(async () => {
    await mandate.close();
    await documents.close();
    await rm(folder, { recursive: true, force: true });
  });

  const identifications = {
    'a client ID metadata document': (redirectUri: string): string =>
      documents.publishMetadata(createDocumentPath(), { redirect_uris: [redirectUri] }),
    'dynamic client registration': undefined,
  };

  describe.each(Object.entries(assistantPrograms))('with %s', (name, program) => {
    let isInstalled = false;
    beforeAll(async () => {
      isInstalled = await program.install(join(folder, name));
    }, 300_000);

    test.for(Object.entries(identifications))('by %s', async ([, publishMetadata], { skip }) => {
      skip(!isInstalled, `${name} cannot be installed`);
      const user = await signUp(mandate.origin);
      const results = await program.signIn(join(folder, name), { origin: mandate.origin, user, publishMetadata });
      expect(results).toEqual(program.expectedResults(productName));
    });
  });
});
