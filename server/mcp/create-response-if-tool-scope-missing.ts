import type { McpTool } from '@mandate/contract/tools';
import { z } from 'zod';
import { formatTokenChallenge, type TokenChallenge } from '../http/middleware/authenticate-and-apply-rate-limit.ts';

const toolCall = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.object({ name: z.string() }),
});

/**
 * Returns a 403 response if the message calls a tool that requires a scope that the token lacks; otherwise, returns `undefined`. The
 * challenge contains the granted scopes and the least permissive missing scope, so that the client requests a token with all of these
 * scopes (MCP authorization, scope challenge handling; RFC 6750 section 3.1).
 */
export function createResponseIfToolScopeMissing(
  body: Buffer,
  lackingScope: readonly McpTool[],
  granted: readonly string[],
  challenge: TokenChallenge,
): Response | undefined {
  const call = toolCall.safeParse(parseJson(body)).data;
  const tool = call && lackingScope.find(({ name }) => name === call.params.name);
  const [missing] = tool?.scopes ?? [];
  if (!call || !tool || missing === undefined) return undefined;
  const message = `The user has not granted the scope ${missing}, which ${tool.name} requires. Request an access token with this scope.`;
  return Response.json(
    { jsonrpc: '2.0', id: call.id, error: { code: -32_001, message } },
    {
      status: 403,
      headers: { 'WWW-Authenticate': formatTokenChallenge({ ...challenge, scopes: [...granted, missing] }, 'insufficient_scope') },
    },
  );
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // the MCP request handler reports invalid JSON
  }
}
