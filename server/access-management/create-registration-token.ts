import { randomBytes } from 'node:crypto';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { administratorRegistrationPolicyName } from '../oauth/clients/dynamic-client-registration.ts';
import { createPostgresAdapterFactory } from '../oauth/provider/postgres-adapter.ts';

/** Creates an initial access token, which lets a developer register applications (RFC 7591 section 3). The token is returned only once. */
export async function createRegistrationToken(em: EntityManager, seconds: number, now: Date): Promise<{ token: string; expiresAt: Date }> {
  const token = `mr_${randomBytes(32).toString('base64url')}`;
  const issuedAt = Math.floor(now.getTime() / 1000);
  const kind = 'InitialAccessToken';
  await createPostgresAdapterFactory(em)(kind).upsert(
    token,
    { kind, iat: issuedAt, exp: issuedAt + seconds, policies: [administratorRegistrationPolicyName] },
    seconds,
  );
  return { token, expiresAt: new Date((issuedAt + seconds) * 1000) };
}
