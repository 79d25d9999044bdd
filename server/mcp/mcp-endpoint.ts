import { originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo, type McpHttpHandler } from '@modelcontextprotocol/server';
import express, { type Request as IncomingRequest, type RequestHandler, type Router } from 'express';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { withOwnEm } from '../database/entity-manager/request-entity-manager.ts';
import { answerHeaders } from '../http/middleware/default-headers.ts';
import { limitChunkSizes } from '../http/request/chunked-body-size.ts';
import { findDuplicateKeyInText } from '../http/validation/json-measure.ts';
import { mcpCors } from '../http/middleware/cors.ts';
import { continueScope, principalOf } from '../http/request/request-context.ts';
import type { Log } from '../logging/logger.ts';
import { requestOf, resultOf } from './call-tool.ts';
import { dispatch } from './in-process-request.ts';
import { toolServers, type CallTool } from './tool-server.ts';

type EndpointParts = {
  readonly em: Em;
  readonly issuer: string;
  readonly log: Log;
  /** Lets in who has a token for this endpoint. */
  readonly authenticate: RequestHandler;
  /** Whether a page of this origin belongs to this application. */
  readonly isOriginOfApplication: (clientId: string, origin: string) => Promise<boolean>;
  /** The API, with everything before and behind it. */
  readonly api: RequestHandler;
};

const bodyMax = 1_000_000;

/** The tools of the API by the Model Context Protocol (streamable HTTP): without sessions, each request stands for itself. */
export function mcpEndpoint({ em, issuer, log, authenticate, isOriginOfApplication, api }: EndpointParts): Router {
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
  const answer = answerWith(handler, (req, caller) => {
    calls.set(caller, async (tool, given) => {
      const made = await withOwnEm(em, () => dispatch(serve, requestOf(tool, given), (inner) => continueScope(req, inner)));
      return resultOf(tool, made);
    });
  });
  const origins = checkOrigin(new URL(issuer).hostname, isOriginOfApplication);
  return express.Router({ caseSensitive: true, strict: true }).all('/mcp', answerHeaders, mcpCors, authenticate, origins, answer);
}

/**
 * The MCP specification has servers validate the Origin header: a page can only use a token at the origin of an application to which
 * the token was issued, or at the server's own host.
 */
const checkOrigin =
  (hostname: string, isOriginOfApplication: EndpointParts['isOriginOfApplication']): RequestHandler =>
  async (req, res, next) => {
    const origin = req.get('origin');
    const allowed = origin !== undefined && (await isOriginOfApplication(principalOf(req).clientId, origin));
    if (allowed || originValidation([hostname])(req, res)) next();
  };

const answerWith =
  (handler: McpHttpHandler, begin: (req: IncomingRequest, caller: AuthInfo) => void): RequestHandler =>
  async (req, res) => {
    limitChunkSizes(req, bodyMax);
    const { clientId, scopes } = principalOf(req);
    const caller: AuthInfo = { token: '', clientId, scopes: [...scopes] };
    begin(req, caller);
    const fetch = async (request: Request): Promise<Response> =>
      (await duplicateKeyError(request)) ?? handler.fetch(request, { authInfo: caller });
    const node = toNodeHandler({ fetch }, { maxRequestBodySize: bodyMax });
    await node(req, res);
  };

/** Parse error (JSON-RPC 2.0, section 5.1) for a message that has one key twice in an object. Text that is not JSON is left to the handler. */
async function duplicateKeyError(request: Request): Promise<Response | undefined> {
  if (request.method !== 'POST') return undefined;
  const bytes = Buffer.from(await request.clone().arrayBuffer());
  const duplicate = findDuplicateKeyInText(bytes);
  if (duplicate === undefined) return undefined;
  const error = { code: -32_700, message: `Parse error: one key occurs twice in an object: ${duplicate}` };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}
