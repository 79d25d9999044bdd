import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createHttpServer } from '../../../server/http/server/http-server.ts';
import type { LoadLimits } from '../../../server/http/server/load-shedder.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import { indexPaymentProvidersByName } from '../../../server/payments/providers/payment-provider.ts';
import { createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { assertContractResponse } from '../contract/assert-contract-response.ts';
import { dumpDatabase } from '../services/database-dump.ts';
import { closeMailbox, openMailbox } from '../services/mailbox.ts';
import { SecretLeakDetector } from './secret-leak-detector.ts';
import { unlimitedRates, type StartOptions, type StartServer } from './start-options.ts';
import { assertOneProcessDeclared, usesTwoProcesses, isEnvironmentOption } from './process-mode.ts';
import { findProxyRejection, startValidatingProxy, type ValidatingProxy } from '../contract/validating-proxy.ts';
import { validateServerResponses } from '../contract/validate-server-responses.ts';
import { testServerSecret } from './test-server-secret.ts';

export type ApiResponse = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: JsonBody };
/** This type is `any`, because every response is validated against the contract, and tests check the fields that they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type JsonBody = any;

export type ApiCallOptions = { token?: string; body?: unknown; headers?: Record<string, string> };

export type MandateServer = {
  readonly origin: string;
  readonly db: Database;
  /** Sends one request and validates the response against the contract. */
  callApi(method: string, path: string, call?: ApiCallOptions): Promise<ApiResponse>;
  close(): Promise<void>;
};

/** A running server, without its `close` function. */
export type ApiServer = Omit<MandateServer, 'close'>;

/** Effectively disables the limit on concurrent requests in tests. */
const unbounded = { maxConcurrent: 10_000 } satisfies Partial<LoadLimits>;

/** Starts Mandate with a new database on a free port, or as two processes with `MANDATE_TEST_PROCESSES=2`. */
export async function startMandateServer(givenOptions: StartOptions = {}): Promise<MandateServer> {
  const violations: string[] = [];
  const secrets = new SecretLeakDetector();
  const { onLogLine = printWarning, ...options } = givenOptions;
  const serve = usesTwoProcesses ? await chooseServe(options) : serveInThisProcess;
  const served = await serve(options, onLogLine, (req, res) => {
    secrets.recordExchange(req, res);
    validateServerResponses(req, res, (violation) => violations.push(violation));
  });
  const { origin, db } = served;
  openMailbox(origin, db, served.keys.mail);
  // `MANDATE_TEST_PROXY=prism`: a third-party proxy validates requests and responses against the OpenAPI document
  const proxy = process.env['MANDATE_TEST_PROXY'] === 'prism' ? await startValidatingProxy(origin) : undefined;
  return {
    origin,
    db,
    callApi: (method, path, call) => callApi(origin, method, path, call, proxy),
    async close() {
      await proxy?.close();
      await served.stop();
      closeMailbox(origin);
      // no secret that a test used may appear in the database or the log (requirement 95)
      const leaked = secrets.findSecretsIn(`${await dumpDatabase(db)}\n${served.output()}`);
      await db.close();
      expect(violations, 'responses that the contract does not declare').toEqual([]);
      if (leaked.length > 0) throw new Error(`secrets found in stored data:\n${leaked.join('\n')}`);
    },
  };
}

/** Returns the function that starts child processes, or the one that uses this process if an option cannot be passed to a child process. */
async function chooseServe(options: StartOptions): Promise<StartServer> {
  const { startMandateProcesses: serveInProcesses } = await import('./start-mandate-processes.ts');
  const localOptions = Object.keys(options).filter((name) => !isEnvironmentOption(name));
  if (localOptions.length === 0) return serveInProcesses;
  assertOneProcessDeclared(localOptions);
  return serveInThisProcess;
}

/** Starts the server in this process. */
const serveInThisProcess: StartServer = async ({ db: existingDb, http, ...options }, onLogLine, inspect) => {
  // programs outside Vitest pass a database and cannot import services/database.ts
  const db = existingDb ?? (await (await import('../services/database.ts')).createMigratedDatabase());
  const logged: string[] = [];
  const write = (line: string): void => {
    logged.push(line);
    onLogLine(line);
  };
  const log = options.log ?? createLogger(true, { write });
  // the issuer URL contains the port, so the application is created after the server has started listening
  const listener = (req: IncomingMessage, res: ServerResponse): void => {
    inspect(req, res);
    app(req, res);
  };
  const server = createHttpServer(listener, { issuer: 'http://localhost', log, load: unbounded, ...http });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const origin = `${http?.tls ? 'https' : 'http'}://localhost:${address.port}`;
  const keys = deriveKeys(testServerSecret);
  const app = await createApp({
    db,
    issuer: origin,
    keys,
    log,
    providers: indexPaymentProvidersByName(manualProvider, createTestProvider()),
    trustProxy: 'loopback',
    development: true,
    rateLimits: unlimitedRates,
    ...options,
  });
  return {
    origin,
    db,
    keys,
    output: () => logged.join('\n'),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const warning = 40;

/** Prints log lines at level `warning` or higher. */
function printWarning(line: string): void {
  if (z.object({ level: z.number() }).parse(JSON.parse(line)).level >= warning) process.stderr.write(line);
}

async function callApi(
  origin: string,
  method: string,
  path: string,
  { token, body, headers = {} }: ApiCallOptions = {},
  proxy?: ValidatingProxy,
): Promise<ApiResponse> {
  const request = {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const { response, text } =
    (proxy && (await callThroughProxy(proxy, origin, path, request))) ?? (await fetchText(`${origin}${path}`, request));
  assertContractResponse(method, path, response, text);
  return { status: response.status, headers: response.headers, text, body: isJson(response) && text !== '' ? JSON.parse(text) : undefined };
}

type TextResponse = { readonly response: Response; readonly text: string };

async function fetchText(url: string, request: RequestInit): Promise<TextResponse> {
  const response = await fetch(url, request);
  return { response, text: await response.text() };
}

/** Sends the request through the proxy. If the proxy rejects the request, the server must reject the request, too. */
async function callThroughProxy(
  proxy: ValidatingProxy,
  origin: string,
  path: string,
  request: RequestInit,
): Promise<TextResponse | undefined> {
  if (!path.startsWith('/api/v1/') || request.method === 'HEAD' || request.method === 'OPTIONS') return undefined;
  // the proxy never responds to malformed JSON
  if (typeof request.body === 'string' && !isValidJson(request.body)) return undefined;
  const response = await fetchText(proxy.origin + path, request);
  const rejected = findProxyRejection(response.text);
  if (rejected === undefined) return response;
  expect(rejected, `${request.method} ${path}: ${response.text}`).toBe('request');
  const direct = await fetchText(origin + path, request);
  expect(
    direct.response.status,
    `${request.method} ${path}: only the OpenAPI document rejects the request: ${response.text}`,
  ).toBeGreaterThanOrEqual(400);
  return direct;
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const isJson = ({ headers }: Response): boolean => /^application\/(problem\+)?json(;|$)/.test(headers.get('content-type') ?? '');
