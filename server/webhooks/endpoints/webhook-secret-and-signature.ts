import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';

const label = 'webhook secret';

/** Generates a secret with 256 random bits in the Standard Webhooks format. */
export const generateWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Encrypts a webhook secret. */
export const encryptWebhookSecret = (secret: string, key: Buffer): string => encryptText(secret, key, label);

export type EncryptedWebhookSecrets = {
  readonly sealed_secret: string;
  readonly previous_sealed_secret: string | null;
  readonly previous_secret_until: string | null;
};

/**
 * Returns the headers for an attempt. The headers contain an ID that is the same for every attempt, the time of this attempt, and one
 * signature per active secret.
 */
export function createSignedWebhookHeaders(
  secrets: EncryptedWebhookSecrets,
  key: Buffer,
  id: string,
  body: string,
  now: Date,
): Record<string, string> {
  const isOverlapping = secrets.previous_secret_until !== null && new Date(secrets.previous_secret_until) > now;
  const sealedSecrets = [
    secrets.sealed_secret,
    ...(isOverlapping && secrets.previous_sealed_secret !== null ? [secrets.previous_sealed_secret] : []),
  ];
  const activeSecrets = sealedSecrets.map((sealed) => decryptText(sealed, key, label)).filter((secret) => secret !== undefined);
  if (activeSecrets.length === 0) throw new Error('the secret of a webhook endpoint was encrypted with another key');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': activeSecrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}
