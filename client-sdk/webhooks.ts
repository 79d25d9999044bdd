import type { MandateEvent } from './client/iterate-and-follow-events.ts';

export {
  followEvents,
  iterateEvents,
  type EventOf,
  type EventType,
  type EventTypeFilter,
  type MandateEvent,
} from './client/iterate-and-follow-events.ts';

const errorMarkerSymbol = Symbol.for('@mandate/client-sdk webhook verification error');

/** The delivery has no valid signature or its timestamp is outside the tolerance. */
export class WebhookVerificationError extends Error {
  readonly [errorMarkerSymbol] = true;
  override readonly name = 'WebhookVerificationError';

  /** `instanceof` also recognizes an error from another copy of this module, such as the CommonJS copy. */
  static override [Symbol.hasInstance](value: unknown): value is WebhookVerificationError {
    return typeof value === 'object' && value !== null && errorMarkerSymbol in value;
  }
}

/** Request headers: a `Headers` object, or Node's `req.headers`. */
export type WebhookHeaders = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options for `verifyWebhook`. */
export type VerifyOptions = {
  /** Maximum difference between the delivery timestamp and the current time, in seconds (default: 300). */
  readonly toleranceSeconds?: number | undefined;
  /** Time to compare the delivery timestamp with (default: the current time). */
  readonly now?: Date | undefined;
};

/**
 * Verifies the signature (Standard Webhooks 1.0.0) and the timestamp of a delivery, and returns its event. Runs in every environment that
 * provides WebCrypto, such as Node, browsers and edge runtimes.
 *
 * ```ts
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 * if (event.type === 'order.paid') await ship(event.data.object);
 * ```
 *
 * An event may be delivered more than once: store `event.id` to detect duplicates. Events may arrive in any order: compare
 * `event.subject.version`. More event types may be added, so a `switch` over `event.type` must ignore unknown types.
 *
 * @param rawBody the body exactly as received; if it were parsed and serialized again, the signature would not match
 * @param secrets the secret of the endpoint, `whsec_...`; both secrets during a rotation
 * @throws {WebhookVerificationError} for every invalid delivery
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<MandateEvent> {
  const [id, timestamp, signatures] = [header(headers, 'id'), header(headers, 'timestamp'), header(headers, 'signature')];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a timestamp');
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError(`webhook-timestamp differs from the current time by more than ${toleranceSeconds} s`);
  }
  const body = typeof rawBody === 'string' ? encoder.encode(rawBody) : rawBody;
  const signedContent = concatenated(encoder.encode(`${id}.${timestamp}.`), body);
  const keys = await Promise.all([secrets].flat().map((secret) => importKey(secret, 'verify')));
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined;
    if (!bytes) continue; // The signature uses another scheme or version.
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, bytes, signedContent)) return parseEvent(body);
  }
  throw new WebhookVerificationError('no signature matches any of the secrets');
}

/** Returns the headers of a signed delivery, for testing your endpoint. */
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

/** The `CryptoKey` type, inferred from a function because platforms declare it under different names. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

function importKey(secret: string, use: 'sign' | 'verify'): Promise<Key> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  // An invalid secret is the receiver's configuration error, not the sender's. The error message must not contain the secret.
  if (!bytes || bytes.length === 0) throw new TypeError('a webhook secret must be whsec_ followed by base64');
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

function parseEvent(body: Uint8Array): MandateEvent {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- signed by the service, whose contract defines the payload
    return JSON.parse(new TextDecoder().decode(body)) as MandateEvent;
  } catch (cause) {
    throw new WebhookVerificationError('the body is not JSON', { cause });
  }
}
