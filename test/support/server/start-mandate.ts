import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { createHttpServer } from '../../../server/http/server/http-server.ts';
import type { LoadLimits } from '../../../server/http/server/load-shedder.ts';
import { createLog } from '../../../server/logging/logger.ts';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import { indexPaymentProviders } from '../../../server/payments/providers/payment-provider.ts';
import { createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { checkAgainstContract } from '../contract/contract-check.ts';
import { dumpOf } from '../dump.ts';
import { openMailbox } from '../services/mailbox.ts';
import { SecretsInUse } from '../oauth/secret-leak-check.ts';
import { generous, type Given, type Serve } from './start-options.ts';
import { expectDeclared, inTwoProcesses, isEnvironment } from './process-mode.ts';
import { mindedByProxy, validatingProxy, type ValidatingProxy } from '../contract/validating-proxy.ts';
import { watchAnswers } from '../contract/validate-responses.ts';
import { secretOfTests } from '../oauth/secret-hash.ts';

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: Body };
/** Loosely typed on purpose: what comes over the wire is held against the contract, and the tests look at what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;

export type Call = { token?: string; body?: unknown; headers?: Record<string, string> };

export type Mandate = {
  readonly origin: string;
  readonly db: Database;
  /** One request; its answer is held against the contract. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
  close(): Promise<void>;
};

/** As much at once as a test likes. */
const unbounded = { maxConcurrent: 10_000 } satisfies Partial<LoadLimits>;

/** The whole server on a free port, with a database of its own; by `MANDATE_TEST_PROCESSES=2` as two processes behind one address. */
export async function startMandate(given: Given = {}): Promise<Mandate> {
  const violations: string[] = [];
  const secrets = new SecretsInUse();
  const { onLogLine = complain, ...parts } = given;
  const serve = inTwoProcesses ? await serveApart(parts) : serveHere;
  const served = await serve(parts, onLogLine, (req, res) => {
    secrets.tap(req, res);
    watchAnswers(req, res, (violation) => violations.push(violation));
  });
  const { origin, db } = served;
  openMailbox(origin, db, served.keys.mail);
  // `MANDATE_TEST_PROXY=prism`: the document's word against the server's, by a program that is neither of ours
  const proxy = process.env['MANDATE_TEST_PROXY'] === 'prism' ? await validatingProxy(origin) : undefined;
  return {
    origin,
    db,
    call: (method, path, call) => callApi(origin, method, path, call, proxy),
    async close() {
      await proxy?.close();
      await served.stop();
      // whatever was done with it: nothing that opened anything lies in the database or in the log (95)
      const kept = secrets.among(`${await dumpOf(db)}\n${served.output()}`);
      await db.close();
      expect(violations, 'answers that the contract does not declare').toEqual([]);
      if (kept.length > 0) throw new Error(`secrets that were kept:\n${kept.join('\n')}`);
    },
  };
}

/** In processes of their own, unless they cannot be given what is asked for. */
async function serveApart(parts: Given): Promise<Serve> {
  const { serveInProcesses } = await import('./start-mandate-processes.ts');
  const beyond = Object.keys(parts).filter((name) => !isEnvironment(name));
  if (beyond.length === 0) return serveInProcesses;
  expectDeclared(beyond);
  return serveHere;
}

/** In this process. */
const serveHere: Serve = async ({ db: given, http, ...parts }, onLogLine, inspect) => {
  // a program that is no test has one of its own, and nobody who would prepare another
  const db = given ?? (await (await import('../services/database.ts')).freshDatabase());
  const logged: string[] = [];
  const write = (line: string): void => {
    logged.push(line);
    onLogLine(line);
  };
  const log = parts.log ?? createLog(true, { write });
  // its address is known when it listens, and with the port the issuer
  const listener = (req: IncomingMessage, res: ServerResponse): void => {
    inspect(req, res);
    app(req, res);
  };
  const server = createHttpServer(listener, { issuer: 'http://localhost', log, load: unbounded, ...http });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const origin = `http://localhost:${address.port}`;
  const keys = deriveKeys(secretOfTests);
  const app = await createApp({
    db,
    issuer: origin,
    keys,
    log,
    providers: indexPaymentProviders(manualProvider, createTestProvider()),
    trustProxy: 'loopback',
    development: true,
    rateLimits: generous,
    ...parts,
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

/** Nothing, unless something broke. */
function complain(line: string): void {
  if (z.object({ level: z.number() }).parse(JSON.parse(line)).level >= warning) process.stderr.write(line);
}

async function callApi(
  origin: string,
  method: string,
  path: string,
  { token, body, headers = {} }: Call = {},
  proxy?: ValidatingProxy,
): Promise<Answer> {
  const request = {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const { response, text } = (proxy && (await throughProxy(proxy, origin, path, request))) ?? (await textOf(`${origin}${path}`, request));
  checkAgainstContract(method, path, response, text);
  return { status: response.status, headers: response.headers, text, body: isJson(response) && text !== '' ? JSON.parse(text) : undefined };
}

type Text = { readonly response: Response; readonly text: string };

async function textOf(url: string, request: RequestInit): Promise<Text> {
  const response = await fetch(url, request);
  return { response, text: await response.text() };
}

/** What the proxy does not pass on, because the document does not allow it, the server has to refuse as well. */
async function throughProxy(proxy: ValidatingProxy, origin: string, path: string, request: RequestInit): Promise<Text | undefined> {
  if (!path.startsWith('/api/v1/') || request.method === 'HEAD' || request.method === 'OPTIONS') return undefined;
  // it never answers what it cannot parse
  if (typeof request.body === 'string' && !parses(request.body)) return undefined;
  const answer = await textOf(proxy.origin + path, request);
  const minded = mindedByProxy(answer.text);
  if (minded === undefined) return answer;
  expect(minded, `${request.method} ${path}: ${answer.text}`).toBe('request');
  const direct = await textOf(origin + path, request);
  expect(direct.response.status, `${request.method} ${path}: refused by the document alone: ${answer.text}`).toBeGreaterThanOrEqual(400);
  return direct;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const isJson = ({ headers }: Response): boolean => /^application\/(problem\+)?json(;|$)/.test(headers.get('content-type') ?? '');
