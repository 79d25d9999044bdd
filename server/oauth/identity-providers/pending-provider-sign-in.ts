import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { decryptText, encryptText } from '../../crypto/authenticated-encryption.ts';

const lifetimeMs = 15 * 60 * 1000;
const encryptionContext = 'pending sign-in through an identity provider';

const pendingSchema = z.object({
  /** Identifies the sign-in, so that the server accepts only one response for it. */
  id: z.string(),
  /** The provider that must send the response. */
  slug: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** CSRF token of the browser that started the sign-in. */
  csrf: z.string(),
  /** ID of the interaction, if an application requested the sign-in; otherwise null. */
  interactionUid: z.string().nullable(),
  /** Path that the browser is redirected to if no application requested the sign-in. */
  next: z.string(),
  /** ID of the signed-in user who is linking an account; null for a sign-in. */
  linkForUserId: z.number().nullable(),
  /** Time after which the response is rejected, in milliseconds since the Unix epoch. */
  until: z.number(),
});
/** A pending sign-in through a provider: the browser has been redirected to the provider, which has not responded yet. */
export type PendingProviderSignIn = z.output<typeof pendingSchema>;

const randomText = (): string => randomBytes(32).toString('base64url');

/**
 * Creates the data of a new sign-in. The server does not store the secrets in this data, but sends the data through the browser in
 * encrypted form.
 */
export const createPendingProviderSignIn = (
  given: Omit<PendingProviderSignIn, 'id' | 'nonce' | 'codeVerifier' | 'until'>,
  now: Date,
): PendingProviderSignIn => ({
  ...given,
  id: randomBytes(16).toString('base64url'),
  nonce: randomText(),
  codeVerifier: randomText(),
  until: now.getTime() + lifetimeMs,
});

/** Encrypts the data of a sign-in, and returns the `state` parameter for the authorization request. */
export const encryptPendingSignIn = (pending: PendingProviderSignIn, key: Buffer): string =>
  encryptText(JSON.stringify(pending), key, encryptionContext);

/** Decrypts a `state` parameter. Returns undefined if the parameter has expired or if this server did not issue it. */
export function decryptPendingSignIn(state: string, key: Buffer, now: Date): PendingProviderSignIn | undefined {
  const text = decryptText(state, key, encryptionContext);
  if (text === undefined) return undefined;
  const pending = pendingSchema.parse(JSON.parse(text));
  return pending.until > now.getTime() ? pending : undefined;
}
