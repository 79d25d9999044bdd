import { randomBytes } from 'node:crypto';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { policyName } from '../oauth/clients/dynamic-client-registration.ts';
import { tokenStore } from '../oauth/provider/postgres-adapter.ts';

/** What a developer registers applications with (RFC 7591 section 3, the initial access token). It is in this answer and nowhere else. */
export async function createRegistrationToken(em: Em, seconds: number, now: Date): Promise<{ token: string; expiresAt: Date }> {
  const token = `mr_${randomBytes(32).toString('base64url')}`;
  const issued = Math.floor(now.getTime() / 1000);
  const kind = 'InitialAccessToken';
  await tokenStore(em)(kind).upsert(token, { kind, iat: issued, exp: issued + seconds, policies: [policyName] }, seconds);
  return { token, expiresAt: new Date((issued + seconds) * 1000) };
}
