import type { ToolRequest } from '@mandate/contract/tools';
import type { InProcessRequest } from './send-in-process-request.ts';

/** Converts the API request of a tool call to an HTTP request. */
export function buildInProcessRequest({ method, path, query, body, idempotencyKey, ifMatch }: ToolRequest): InProcessRequest {
  const search = new URLSearchParams(query).toString();
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: {
      accept: 'application/json, application/problem+json',
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    },
    ...(body && { body: JSON.stringify(body) }),
  };
}
