import { createServer } from 'node:http';
import { scopeNames } from '@mandate/contract';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';
import { obtainTokens, signIn } from '../support/oauth/oauth-flow.ts';
import { createDataDirectory, readFirstRunFile, startServerProcess } from '../support/server/server-process.ts';

type Account = { readonly email: string; readonly password: string };

/** A running server, and the administrator on whose behalf it is called. */
export type TestedServer = { readonly url: string; readonly administrator: Account };

/** Starts a server process with a new embedded database, the demonstration shop, and limits that no run reaches. */
export async function startTestedServer(): Promise<AsyncDisposable & TestedServer> {
  const data = await createDataDirectory();
  const [requests, requestsPerMonth] = ['1000000', '1000000000'];
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    MANDATE_RATE_LIMIT: requests,
    MANDATE_RATE_LIMIT_IP: requests,
    MANDATE_MONTHLY_QUOTA: requestsPerMonth,
  });
  const { administrator } = await readFirstRunFile(data.path);
  return {
    url: server.url,
    administrator,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await data[Symbol.asyncDispose]();
    },
  };
}

/**
 * Starts a server that responds to each request with a new access token. To obtain the token, the administrator signs in and allows the
 * command-line client to use every scope. The test cases end sessions, revoke consents and rotate signing keys, so no refresh token remains
 * valid throughout a run.
 */
export async function startTokenServer({ url, administrator }: TestedServer): Promise<AsyncDisposable & { readonly url: string }> {
  const obtainToken = async (): Promise<string> => {
    const browser = await signIn(url, administrator);
    return (await obtainTokens(url, { browser }, scopeNames)).access_token;
  };
  const server = createServer((_, response) => {
    obtainToken().then(
      (token) => response.end(token),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}
