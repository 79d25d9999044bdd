import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { seal, unseal } from '../../crypto/authenticated-encryption.ts';

const label = 'webhook secret';

/** 256 random bits in the form that Standard Webhooks gives its secrets. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export const sealSecret = (secret: string, key: Buffer): string => seal(secret, key, label);

export type SealedSecrets = {
  readonly sealed_secret: string;
  readonly previous_sealed_secret: string | null;
  readonly previous_secret_until: string | null;
};

/** The headers of an attempt: the same id every time, the time of this attempt, and a signature by each secret that is in use. */
export function signedHeaders(secrets: SealedSecrets, key: Buffer, id: string, body: string, now: Date): Record<string, string> {
  const before = secrets.previous_secret_until !== null && new Date(secrets.previous_secret_until) > now;
  const inUse = [secrets.sealed_secret, ...(before && secrets.previous_sealed_secret !== null ? [secrets.previous_sealed_secret] : [])];
  const opened = inUse.map((sealed) => unseal(sealed, key, label)).filter((secret) => secret !== undefined);
  if (opened.length === 0) throw new Error('the secret of a webhook endpoint was sealed with another secret of the installation');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': opened.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}
