import { type Gate, type Network, withProtectedConnection } from '../../outgoing-http/protected-client.ts';

/** Seconds for everything together: finding the address, connecting, sending, and waiting for the answer. */
const totalMs = 15_000;
/** Of an answer no more is read than this; nothing of it is kept or shown. */
const answerMax = 64 * 1024;

/** Whoever was to be told may not be told any more. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}
/** Whether they may cannot be said this moment: somebody is changing it. */
export class UndecidedError extends Error {
  override readonly name = 'UndecidedError';
}

export type Outgoing = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };
export type Outcome = { readonly statusCode: number; readonly retryAfter: string | undefined };

/**
 * One attempt, over a connection of its own: the name is resolved anew, and connected to is what was looked at. A redirect is an
 * answer like any other and not followed.
 * @param gate asked once the connection stands, right before the request is written
 */
export function send({ url, headers, body }: Outgoing, network: Network, gate: Gate, signal: AbortSignal): Promise<Outcome> {
  return withProtectedConnection({ url, network, totalMs, signal, gate }, async ({ client, path, signal: over }) => {
    const response = await client.request({ method: 'POST', path, headers, body, signal: over });
    await response.body.dump({ limit: answerMax }); // one that breaks off or never ends has said before whether it went well
    const { 'retry-after': retryAfter } = response.headers;
    return { statusCode: response.statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
  });
}
