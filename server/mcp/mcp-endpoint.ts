import express, { type RequestHandler, type Router } from 'express';
import { mcpCors } from '../http/middleware/cors.ts';
import { setDefaultHeaders } from '../http/middleware/default-headers.ts';
import { createLazyGetter } from '../memory/lazy-value.ts';
import type { McpRequestHandlerOptions } from './mcp-request-handler.ts';
import { readOnlyMcpPath } from './parse-mcp-tool-selection.ts';

type McpEndpointOptions = McpRequestHandlerOptions & {
  /** Authenticates requests by access tokens for this endpoint. */
  readonly authenticate: RequestHandler;
};

/**
 * Creates the stateless Model Context Protocol endpoint (streamable HTTP without sessions). The MCP library is loaded when the first
 * authenticated request arrives, because the library needs 25 MB of memory, and many shops do not use AI assistants.
 */
export function createMcpEndpoint({ authenticate, ...options }: McpEndpointOptions): Router {
  const getHandler = createLazyGetter(async () => (await import('./mcp-request-handler.ts')).createMcpRequestHandler(options));
  const handleRequest: RequestHandler = (req, res, next) => void getHandler().then((handle) => handle(req, res, next), next);
  return express
    .Router({ caseSensitive: true, strict: true })
    .all(['/mcp', readOnlyMcpPath], setDefaultHeaders, mcpCors, authenticate, handleRequest);
}
