import type { WebhookExchange } from '@mandate/contract';
import { type SendGate, type NetworkPolicy, withSsrfProtectedConnection } from '../../outgoing-http/ssrf-protected-connection.ts';
import { readResponseToStore } from './stored-webhook-exchange.ts';

/** Total timeout of an attempt in milliseconds, including DNS lookup, connection, request and response. */
export const webhookAttemptTimeoutMs = 15_000;

/** The endpoint is no longer authorized to receive the event. */
export class EndpointNoLongerAuthorizedError extends Error {
  override readonly name = 'EndpointNoLongerAuthorizedError';
}
/** The authorization cannot be checked now, because another transaction is changing it. */
export class AuthorizationLockedError extends Error {
  override readonly name = 'AuthorizationLockedError';
}

export type WebhookRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };
export type WebhookResponse = {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
  /** The part of the response that is stored with the attempt. */
  readonly stored: WebhookExchange['response'];
};

/**
 * Sends a webhook request over a new connection. The host name is resolved again, and the connection uses exactly the address that was
 * checked. Redirects are not followed.
 * @param gate called when the connection is established, immediately before the request is written
 */
export function sendWebhook(
  { url, headers, body }: WebhookRequest,
  network: NetworkPolicy,
  gate: SendGate,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  return withSsrfProtectedConnection(
    { url, network, totalMs: webhookAttemptTimeoutMs, signal, gate },
    async ({ client, path, signal: over }) => {
      const response = await client.request({ method: 'POST', path, headers, body, signal: over });
      const stored = await readResponseToStore(response);
      const { 'retry-after': retryAfter } = response.headers;
      return { statusCode: response.statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined, stored };
    },
  );
}
