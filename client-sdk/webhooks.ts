import type { MandateEvent } from './core/events.ts';

export { followEvents, type EventOf, type EventType, type EventTypeFilter, type MandateEvent } from './core/events.ts';

/** The delivery is not from whom it says, was changed on the way, or is too old to be believed. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** Headers as a framework has them: `Headers`, or Node's `req.headers`. */
export type WebhookHeaders = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How far the time of the delivery may be from now, in seconds: 300 when left out. */
  readonly toleranceSeconds?: number | undefined;
  /** The time to compare with: now. */
  readonly now?: Date | undefined;
};

/**
 * Checks that a delivery was signed with one of your secrets (Standard Webhooks 1.0.0), not long ago, and gives its event.
 * Runs wherever there is WebCrypto: Node, browsers, edge runtimes.
 *
 * ```ts
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 * if (event.type === 'order.paid') await ship(event.data.object);
 * ```
 *
 * The same event may come more than once: remember `event.id`. Events may come in any order: compare `event.subject.version`.
 * New types are added now and then, so let a `switch` over `event.type` pass over what it does not know.
 *
 * @param rawBody the body exactly as it came: parsed and written again it has another signature
 * @param secrets what the endpoint was created with, `whsec_...`; both while one follows the other
 * @throws {WebhookVerificationError} and nothing else, for whatever was sent
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<MandateEvent> {
  const [id, timestamp, signatures] = [header(headers, 'id'), header(headers, 'timestamp'), header(headers, 'signature')];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is no time');
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError(`webhook-timestamp is more than ${toleranceSeconds} s from now`);
  }
  const body = typeof rawBody === 'string' ? encoder.encode(rawBody) : rawBody;
  const signed = concatenated(encoder.encode(`${id}.${timestamp}.`), body);
  const keys = await Promise.all([secrets].flat().map((secret) => importKey(secret, 'verify')));
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined;
    if (!bytes) continue; // of another scheme, or another time
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return parsed(body);
  }
  throw new WebhookVerificationError('no signature is by one of the secrets');
}

/** The headers that a delivery is sent with: for tests of your receiver. */
export async function signWebhook(id: string, body: string, secret: string, now: Date = new Date()): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = await crypto.subtle.sign('HMAC', await importKey(secret, 'sign'), encoder.encode(`${id}.${timestamp}.${body}`));
  const text = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${text}` };
}

const encoder = new TextEncoder();

function header(headers: WebhookHeaders, name: string): string {
  const full = `webhook-${name}`;
  const value = isHeaders(headers) ? headers.get(full) : Object.entries(headers).find(([key]) => key.toLowerCase() === full)?.[1];
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`${full} is missing`);
  return value;
}

const isHeaders = (headers: WebhookHeaders): headers is { get(name: string): string | null } => typeof headers['get'] === 'function';

/** Named by what gives it: environments have it under different types. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

function importKey(secret: string, use: 'sign' | 'verify'): Promise<Key> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  // Not a failure of whoever sent it, and nothing of the secret is said.
  if (!bytes || bytes.length === 0) throw new TypeError('a webhook secret is base64 behind whsec_');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function parsed(body: Uint8Array): MandateEvent {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- signed by the service, whose contract says what it sends
    return JSON.parse(new TextDecoder().decode(body)) as MandateEvent;
  } catch (cause) {
    throw new WebhookVerificationError('the body is no JSON', { cause });
  }
}
