import {
  ApiError,
  AuthorizationError,
  ConnectionError,
  MandateError,
  SignInRequiredError,
  TimeoutError,
  type Client,
} from '@mandate/client-sdk';
import {
  createErrorToolResult,
  toolRequestFromCall,
  toolResultFromResponse,
  type McpTool,
  type AccessAdvice,
  type ToolRequest,
  type ToolResponse,
  type ToolResult,
} from '@mandate/contract/tools';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { addProfileToLoginHint } from '../settings/resolve-settings.ts';

type ToolArguments = Readonly<Record<string, unknown>>;

/** Calls the API operation of a tool as the signed-in user. Errors are returned as results that tell the assistant what to do. */
export async function callMcpTool(io: CliEnvironment, client: Client, tool: McpTool, toolArguments: ToolArguments): Promise<ToolResult> {
  const request = toolRequestFromCall(tool, toolArguments);
  const advice: AccessAdvice = {
    missingScope: ([scope = '']) => addProfileToLoginHint(io, `ask the user to run \`mandate login --scopes +${scope}\``),
    missingToken: addProfileToLoginHint(io, 'ask the user to run `mandate login`'),
  };
  try {
    return toolResultFromResponse(tool, await sendToolRequest(io, client, request), advice);
  } catch (error) {
    return createErrorToolResult(describeFailure(error, request, advice));
  }
}

/** Sends the API request of a tool. Returns the response, even if it is an error. */
export async function sendToolRequest(io: CliEnvironment, client: Client, request: ToolRequest): Promise<ToolResponse> {
  const { method, path, query, body, idempotencyKey, ifMatch } = request;
  const options = { signal: io.interrupted, idempotencyKey, ifMatch };
  try {
    const { data, headers } = await client.request({ method, path, query, ...(body && { body }) }, options).withResponse();
    return {
      status: 200,
      header: (name) => headers.get(name) ?? undefined,
      text: data === undefined ? '' : JSON.stringify(data),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, status, title, detail, errors, requestId, retryAfterSeconds } = error;
    return {
      status,
      header: (name) => (name === 'retry-after' && retryAfterSeconds !== undefined ? String(retryAfterSeconds) : undefined),
      text: JSON.stringify({ code, status, title, detail, ...(errors.length > 0 && { errors }), request_id: requestId }),
    };
  }
}

/** Describes in one sentence why a request has no valid response. */
function describeFailure(error: unknown, { idempotencyKey }: ToolRequest, { missingToken = '' }: AccessAdvice): string {
  if (!(error instanceof MandateError)) throw error;
  const reason = error.message.replace(/\.$/, '');
  if (error instanceof SignInRequiredError || error instanceof AuthorizationError) return `${reason}; ${missingToken}.`;
  const isOutcomeUnknown = error instanceof ConnectionError || error instanceof TimeoutError;
  return isOutcomeUnknown && idempotencyKey !== undefined
    ? `${reason}; the request may have been executed, so call the tool again with \`idempotency_key\` ${idempotencyKey}.`
    : `${reason}.`;
}
