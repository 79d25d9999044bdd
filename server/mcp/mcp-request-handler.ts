import { toolRequestFromCall } from '@mandate/contract/tools';
import { originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo, type McpHttpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import express, { type Request as IncomingRequest, type RequestHandler } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { runWithRequestEntityManager } from '../database/entity-manager/request-entity-manager.ts';
import { selectOfferedTools } from './select-offered-tools.ts';
import type { TokenChallenge } from '../http/middleware/authenticate-and-apply-rate-limit.ts';
import { reduceChunkedBodyLimitTo } from '../http/request/reject-chunked-body-over-limit.ts';
import { findDuplicateKeyInText } from '../http/validation/json-complexity-and-duplicate-keys.ts';
import { copyRequestIdAndPrincipal, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import { formatPrincipalKey } from '../http/request/principal-and-token-types.ts';
import type { Log } from '../logging/logger.ts';
import { buildInProcessRequest } from './build-in-process-request.ts';
import { type InProcessRequest, type InProcessResponse, sendInProcessRequest } from './send-in-process-request.ts';
import { createMcpServerFactory, createAllMcpToolsGetter, type OfferedTools } from './mcp-server-factory.ts';
import { createResponseIfToolScopeMissing } from './create-response-if-tool-scope-missing.ts';
import { type EventSource, subscriptionRequestIdFromBody, McpSubscriptions } from './serve-mcp-subscription.ts';
import { createCheckForUnchangedTokenPermissions } from './create-check-for-unchanged-token-permissions.ts';

export type McpRequestHandlerOptions = {
  readonly em: EntityManager;
  readonly issuer: string;
  readonly log: Log;
  /** Authentication challenge for requests without a token. */
  readonly challenge: TokenChallenge;
  /** Returns whether an origin belongs to the application. */
  readonly isOriginOfApplication: (clientId: string, origin: string) => Promise<boolean>;
  /** The API with all its middleware. */
  readonly api: RequestHandler;
};

const maxBodyBytes = 1_000_000;

/** Creates the handler for authenticated requests to the Model Context Protocol endpoint. */
export function createMcpRequestHandler(options: McpRequestHandlerOptions): RequestHandler {
  const { em, issuer, log, challenge, isOriginOfApplication, api } = options;
  const apiHandler = express().disable('x-powered-by').set('etag', false).use(api);
  const tools = createAllMcpToolsGetter(issuer);
  const createToolServer = createMcpServerFactory();
  const offers = new WeakMap<AuthInfo, OfferedTools>();
  const createServerForCaller: McpServerFactory = ({ authInfo, era }) => {
    const offered = authInfo && offers.get(authInfo);
    if (!offered) throw new Error('the request has no caller');
    return createToolServer(offered, era);
  };
  const handler = createMcpHandler(createServerForCaller, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (err) => log.warn({ err }, 'an MCP request was rejected'),
  });
  const subscriptions = new McpSubscriptions();
  const sendAsCaller = (req: IncomingRequest, request: InProcessRequest, signal?: AbortSignal): Promise<InProcessResponse> =>
    runWithRequestEntityManager(em, () =>
      sendInProcessRequest(apiHandler, request, (innerRequest) => copyRequestIdAndPrincipal(req, innerRequest), signal),
    );
  const offerTools = (req: IncomingRequest, caller: AuthInfo): OfferedTools => {
    const offered = selectOfferedTools(req, tools(), (tool, toolArguments) =>
      sendAsCaller(req, buildInProcessRequest(toolRequestFromCall(tool, toolArguments))),
    );
    offers.set(caller, offered);
    return offered;
  };
  const subscribe: Subscribe = async (req, request, id, caller) => {
    const principal = requirePrincipal(req);
    const source: EventSource = {
      callerKey: formatPrincipalKey(principal),
      listEvents: async (query, signal) => {
        const path = `/api/v1/events?${query}&type=order.*,product.*`;
        const { status, text } = await sendAsCaller(req, { method: 'GET', path, headers: { accept: 'application/json' } }, signal);
        return status === 200 ? text : undefined;
      },
      isStillAuthorized: await createCheckForUnchangedTokenPermissions(em, principal),
    };
    return subscriptions.serve(request, id, caller, createServerForCaller, source);
  };
  const originCheck = checkOrigin(new URL(issuer).hostname, isOriginOfApplication);
  return express.Router().use(originCheck, respondToCaller(handler, challenge, offerTools, subscribe));
}

/**
 * Validates the Origin header, as the MCP specification requires. A web page can use a token only if the page is on the server's host, or
 * if its origin belongs to the application to which the token was issued.
 */
const checkOrigin =
  (hostname: string, isOriginOfApplication: McpRequestHandlerOptions['isOriginOfApplication']): RequestHandler =>
  async (req, res, next) => {
    const origin = req.get('origin');
    const allowed = origin !== undefined && (await isOriginOfApplication(requirePrincipal(req).clientId, origin));
    if (allowed || originValidation([hostname])(req, res)) next();
  };

type Subscribe = (req: IncomingRequest, request: Request, id: string | number, caller: AuthInfo) => Promise<Response>;

const respondToCaller =
  (
    handler: McpHttpHandler,
    challenge: TokenChallenge,
    offerTools: (req: IncomingRequest, caller: AuthInfo) => OfferedTools,
    subscribe: Subscribe,
  ): RequestHandler =>
  async (req, res) => {
    reduceChunkedBodyLimitTo(req, maxBodyBytes);
    const { clientId, scopes } = requirePrincipal(req);
    const caller: AuthInfo = { token: '', clientId, scopes: [...scopes] };
    const { lackingScope, canSubscribe } = offerTools(req, caller);
    const fetch = async (request: Request): Promise<Response> => {
      const body = request.method === 'POST' ? Buffer.from(await request.clone().arrayBuffer()) : undefined;
      const rejection =
        body && (rejectDuplicateKey(body) ?? createResponseIfToolScopeMissing(body, lackingScope, caller.scopes, challenge));
      if (rejection) return rejection;
      const subscriptionId = canSubscribe && body ? subscriptionRequestIdFromBody(body) : undefined;
      return subscriptionId === undefined ? handler.fetch(request, { authInfo: caller }) : subscribe(req, request, subscriptionId, caller);
    };
    const nodeHandler = toNodeHandler({ fetch }, { maxRequestBodySize: maxBodyBytes });
    await nodeHandler(req, res);
  };

/**
 * Returns a JSON-RPC parse error (JSON-RPC 2.0 section 5.1) for duplicate keys in an object. The MCP request handler rejects all other
 * invalid JSON.
 */
function rejectDuplicateKey(body: Buffer): Response | undefined {
  const duplicate = findDuplicateKeyInText(body);
  if (duplicate === undefined) return undefined;
  const error = { code: -32_700, message: `Parse error: one key occurs twice in an object: ${duplicate}` };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}
