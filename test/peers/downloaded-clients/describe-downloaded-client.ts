import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInstalled } from '../../generated-clients/run-command.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { createSelfSignedCertificate } from '../../support/network/self-signed-certificate.ts';
import type { ClientCredentials } from '../../support/oauth/oauth-flow.ts';
import type { StartOptions } from '../../support/server/start-options.ts';
import { useServer, type RunningServer } from '../../support/server/use-server.ts';
import { expectCompleteSession, recordRequests, registerWebClient, type WebClient, type WebClientUrls } from '../web-client.ts';
import { startEchoServer, type EchoServer } from './echo-server.ts';

// oxlint-disable-next-line node/no-process-env -- set by the npm script
const isEnabled = process.env['MANDATE_CLIENT_TESTS'] === '1';

export type ClientSettings = ClientCredentials &
  WebClientUrls & {
    readonly issuer: string;
    /** Folder in which the client is installed and to which it can write. */
    readonly folder: string;
    readonly origin: string;
    readonly port: number;
    /** Origin of the website to protect, for clients that are proxies. */
    readonly upstream: string;
  };

/** A third-party program that signs users in to a website. */
export type DownloadedClient = {
  /** Name and version. */
  readonly name: string;
  /** Commands or files that must be installed, each with the name of the program and the command that installs it. */
  readonly requirements: Readonly<Record<string, string>>;
  /** Whether the client accepts only HTTPS issuers. Such a client must run in this process. */
  readonly requiresHttps?: boolean;
  readonly redirectPath: string;
  /** Path of the page to which the user returns after signing out (default: `/signed-out`). */
  readonly signedOutPath?: string;
  readonly backchannelLogoutPath?: string;
  /** Whether the client can send neither PKCE nor a `nonce`. */
  readonly omitsPkceAndNonce?: boolean;
  /** Downloads and builds the client. */
  readonly install?: (folder: string) => Promise<unknown>;
  /** Starts the client, and waits until the client listens on its port. */
  readonly start: (settings: ClientSettings) => Promise<AsyncDisposable>;
  readonly createWebClient: (settings: ClientSettings) => WebClient;
};

export type RunningClient = { readonly server: RunningServer; readonly webClient: WebClient };

const findMissingRequirement = ({ requirements }: DownloadedClient): string | undefined =>
  Object.entries(requirements).find(([name]) => !(name.startsWith('/') ? existsSync(name) : isInstalled(name)))?.[1];

/**
 * Returns the options for a server with a new certificate. This process trusts the certificate during the tests of a file or `describe`
 * block.
 */
function useTrustedTls(): NonNullable<StartOptions['http']> {
  const { cert, key } = createSelfSignedCertificate();
  const trusted = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...trusted, cert]));
  afterAll(() => setDefaultCACertificates(trusted));
  return { tls: { cert: Buffer.from(cert), key: Buffer.from(key) } };
}

/**
 * Tests a client with a new server. The tests run only with `npm run test:clients`, because they download the client.
 * @param testMore adds tests of the running client
 */
export function describeDownloadedClient(client: DownloadedClient, testMore?: (running: () => RunningClient) => void): void {
  const missing = findMissingRequirement(client);
  if (isEnabled && missing !== undefined)
    process.stderr.write(`The tests with ${client.name} are skipped, because they need ${missing}.\n`);
  // oxlint-disable-next-line vitest/valid-title -- the name is a string
  describe.skipIf(!isEnabled || missing !== undefined)(client.name, { timeout: 120_000 }, () => {
    const { requests, onLogLine } = recordRequests();
    const server = useServer({ onLogLine, ...(client.requiresHttps === true && { http: useTrustedTls() }) });
    let echo: EchoServer;
    let folder: string;
    let settings: ClientSettings;
    let program: AsyncDisposable;

    beforeAll(async () => {
      [folder, echo] = [await mkdtemp(join(tmpdir(), 'mandate-client-')), await startEchoServer()];
      await client.install?.(folder);
      const port = await findFreePort();
      const origin = `http://localhost:${port}`;
      const urls = {
        redirectUri: origin + client.redirectPath,
        signedOutUri: origin + (client.signedOutPath ?? '/signed-out'),
        ...(client.backchannelLogoutPath !== undefined && { backchannelLogoutUri: origin + client.backchannelLogoutPath }),
      };
      const credentials = await registerWebClient(server, { ...urls, allowNeitherPkceNorNonce: client.omitsPkceAndNonce ?? false });
      settings = { ...credentials, ...urls, issuer: server.origin, folder, origin, port, upstream: echo.origin };
      program = await client.start(settings);
    }, 900_000);
    afterAll(async () => {
      await program?.[Symbol.asyncDispose]();
      await echo?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    test('signs a user in, reads userinfo, refreshes the tokens and signs the user out', async () => {
      await expectCompleteSession(server, client.createWebClient(settings), settings);
      expect(requests).toContain('200 /oauth/userinfo');
    });
    testMore?.(() => ({ server, webClient: client.createWebClient(settings) }));
  });
}
