import { originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo, type McpHttpHandler } from '@modelcontextprotocol/server';
import express, { type Request, type RequestHandler, type Router } from 'express';
import type { Em } from '../database/orm.ts';
import { withOwnEm } from '../database/request-em.ts';
import { answerHeaders } from '../http/answer-headers.ts';
import { continueScope, principalOf } from '../http/request-scope.ts';
import type { Log } from '../log.ts';
import { requestOf, resultOf } from './call-tool.ts';
import { dispatch } from './dispatch.ts';
import { toolServers, type CallTool } from './tool-server.ts';

type EndpointParts = {
  readonly em: Em;
  readonly issuer: string;
  readonly log: Log;
  /** Lets in who has a token for this endpoint. */
  readonly authenticate: RequestHandler;
  /** The API, with everything before and behind it. */
  readonly api: RequestHandler;
};

const bodyMax = 1_000_000;

/** The tools of the API by the Model Context Protocol (streamable HTTP): without sessions, each request stands for itself. */
export function mcpEndpoint({ em, issuer, log, authenticate, api }: EndpointParts): Router {
  const serve = express().disable('x-powered-by').set('etag', false).use(api);
  const serverFor = toolServers(issuer);
  const calls = new WeakMap<AuthInfo, CallTool>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const call = authInfo && calls.get(authInfo);
      if (!call) throw new Error('a request without its caller');
      return serverFor(call);
    },
    // Nothing changes while the server runs, so there is nothing to wait for.
    {
      maxRequestBodySize: bodyMax,
      maxSubscriptions: 1,
      onerror: (err) => log.warn({ err }, 'a request of the Model Context Protocol was refused'),
    },
  );
  const answer = answerWith(handler, new URL(issuer).hostname, (req, caller) => {
    calls.set(caller, async (tool, given) => {
      const made = await withOwnEm(em, () => dispatch(serve, requestOf(tool, given), (inner) => continueScope(req, inner)));
      return resultOf(tool, made);
    });
  });
  return express.Router({ caseSensitive: true, strict: true }).all('/mcp', answerHeaders, authenticate, answer);
}

const answerWith =
  (handler: McpHttpHandler, hostname: string, begin: (req: Request, caller: AuthInfo) => void): RequestHandler =>
  async (req, res) => {
    // A page of somebody else's could reach this address by a name of its own.
    if (!originValidation([hostname])(req, res)) return;
    const { clientId, scopes } = principalOf(req);
    const caller: AuthInfo = { token: '', clientId, scopes: [...scopes] };
    begin(req, caller);
    const node = toNodeHandler({ fetch: (request) => handler.fetch(request, { authInfo: caller }) }, { maxRequestBodySize: bodyMax });
    await node(req, res);
  };
