import { originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo, type McpHttpHandler } from '@modelcontextprotocol/server';
import express, { type Request as IncomingRequest, type RequestHandler, type Router } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { runWithRequestEntityManager } from '../database/entity-manager/request-entity-manager.ts';
import { setDefaultHeaders } from '../http/middleware/default-headers.ts';
import { lowerChunkedBodyLimit } from '../http/request/reject-chunked-body-over-limit.ts';
import { findDuplicateKeyInText } from '../http/validation/json-complexity-and-duplicate-keys.ts';
import { mcpCors } from '../http/middleware/cors.ts';
import { copyRequestIdAndPrincipal, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { Log } from '../logging/logger.ts';
import { apiRequestFromToolCall, toolResultFromApiResponse } from './convert-tool-call-and-result.ts';
import { sendInProcessRequest } from './send-in-process-request.ts';
import { createMcpServerFactory, type CallTool } from './mcp-server-factory.ts';

type McpEndpointOptions = {
  readonly em: EntityManager;
  readonly issuer: string;
  readonly log: Log;
  /** Authenticates requests by access tokens for this endpoint. */
  readonly authenticate: RequestHandler;
  /** Returns whether an origin belongs to the application. */
  readonly isOriginOfApplication: (clientId: string, origin: string) => Promise<boolean>;
  /** The API with all its middleware. */
  readonly api: RequestHandler;
};

const maxBodyBytes = 1_000_000;

/** Creates the Model Context Protocol endpoint (streamable HTTP), stateless, that is, without sessions. */
export function createMcpEndpoint({ em, issuer, log, authenticate, isOriginOfApplication, api }: McpEndpointOptions): Router {
  const apiHandler = express().disable('x-powered-by').set('etag', false).use(api);
  const createToolServer = createMcpServerFactory(issuer);
  const calls = new WeakMap<AuthInfo, CallTool>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const call = authInfo && calls.get(authInfo);
      if (!call) throw new Error('the request has no caller');
      return createToolServer(call);
    },
    // The tools do not change while the server runs, so subscribers would never receive a notification.
    {
      maxRequestBodySize: maxBodyBytes,
      maxSubscriptions: 1,
      onerror: (err) => log.warn({ err }, 'an MCP request was rejected'),
    },
  );
  const handleRequest = createRequestHandler(handler, (req, caller) => {
    calls.set(caller, async (tool, toolArguments) => {
      const response = await runWithRequestEntityManager(em, () =>
        sendInProcessRequest(apiHandler, apiRequestFromToolCall(tool, toolArguments), (innerRequest) =>
          copyRequestIdAndPrincipal(req, innerRequest),
        ),
      );
      return toolResultFromApiResponse(tool, response);
    });
  });
  const originCheck = checkOrigin(new URL(issuer).hostname, isOriginOfApplication);
  return express
    .Router({ caseSensitive: true, strict: true })
    .all('/mcp', setDefaultHeaders, mcpCors, authenticate, originCheck, handleRequest);
}

/**
 * Validates the Origin header, as the MCP specification requires: a web page can use a token only on the server's host, or if the page's
 * origin belongs to the application that the token was issued to.
 */
const checkOrigin =
  (hostname: string, isOriginOfApplication: McpEndpointOptions['isOriginOfApplication']): RequestHandler =>
  async (req, res, next) => {
    const origin = req.get('origin');
    const allowed = origin !== undefined && (await isOriginOfApplication(requirePrincipal(req).clientId, origin));
    if (allowed || originValidation([hostname])(req, res)) next();
  };

const createRequestHandler =
  (handler: McpHttpHandler, registerCall: (req: IncomingRequest, caller: AuthInfo) => void): RequestHandler =>
  async (req, res) => {
    lowerChunkedBodyLimit(req, maxBodyBytes);
    const { clientId, scopes } = requirePrincipal(req);
    const caller: AuthInfo = { token: '', clientId, scopes: [...scopes] };
    registerCall(req, caller);
    const fetch = async (request: Request): Promise<Response> =>
      (await duplicateKeyError(request)) ?? handler.fetch(request, { authInfo: caller });
    const nodeHandler = toNodeHandler({ fetch }, { maxRequestBodySize: maxBodyBytes });
    await nodeHandler(req, res);
  };

/**
 * Returns a JSON-RPC parse error (JSON-RPC 2.0 section 5.1) for duplicate keys in an object. The MCP request handler rejects all other
 * invalid JSON.
 */
async function duplicateKeyError(request: Request): Promise<Response | undefined> {
  if (request.method !== 'POST') return undefined;
  const bytes = Buffer.from(await request.clone().arrayBuffer());
  const duplicate = findDuplicateKeyInText(bytes);
  if (duplicate === undefined) return undefined;
  const error = { code: -32_700, message: `Parse error: one key occurs twice in an object: ${duplicate}` };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}
