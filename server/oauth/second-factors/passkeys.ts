import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { User } from '../../users/user.entity.ts';
import { Passkey, UsedSingleUseIdentifier } from './second-factors-and-used-identifiers.entity.ts';

// The library is loaded on demand, because loading takes a tenth of a second and most sign-ins use a password.
const loadWebAuthn = () => import('@simplewebauthn/server');

const challengeLifetimeMs = 60 * 60 * 1000;
/**
 * COSE algorithm identifiers for ES256, EdDSA and RS256. By default, the library prefers an algorithm that few devices support and whose
 * keys are a kilobyte long.
 */
const algorithms = [-7, -8, -257];

/**
 * Issues and verifies passkey challenges. A challenge contains its expiry and a MAC, so that challenges do not have to be stored until they
 * are used.
 */
export class StatelessPasskeyChallenges {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  issue(now: Date): string {
    const body = Buffer.concat([uint64Bytes(now.getTime() + challengeLifetimeMs), randomBytes(16)]);
    return Buffer.concat([body, this.#mac(body)]).toString('base64url');
  }

  isValid(challenge: string, now: Date): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== 40) return false;
    const [body, mac] = [bytes.subarray(0, 24), bytes.subarray(24)];
    return timingSafeEqual(mac, this.#mac(body)) && Number(body.readBigUInt64BE(0)) > now.getTime();
  }

  #mac(body: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(body).digest().subarray(0, 16);
  }
}

function uint64Bytes(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}

/** Marks a challenge or another single-use identifier as used. Returns false if it was already used. */
export const consumeSingleUseIdentifier = (em: EntityManager, challenge: string, now: Date): Promise<boolean> =>
  insertIfAbsent(em, UsedSingleUseIdentifier, { challenge, expiresAt: new Date(now.getTime() + challengeLifetimeMs) });

export type PasskeySummary = { readonly id: number; readonly name: string; readonly addedAt: Date; readonly lastUsedAt: Date | null };

const findPasskeys = (em: EntityManager, userId: number) =>
  em.find(Passkey, { user: userId }, { orderBy: { id: 'asc' }, disableIdentityMap: true });

export const listPasskeys = async (em: EntityManager, userId: number): Promise<PasskeySummary[]> =>
  (await findPasskeys(em, userId)).map(({ id, name, addedAt, lastUsedAt }) => ({ id, name, addedAt, lastUsedAt: lastUsedAt ?? null }));

type PasskeyServer = { readonly issuer: string; readonly shop: string };
const relyingParty = (issuer: string): string => new URL(issuer).hostname;

/** Returns the JSON options that the page script uses to create a passkey. */
export async function createPasskeyCreationOptionsJson(
  em: EntityManager,
  challenges: StatelessPasskeyChallenges,
  { issuer, shop }: PasskeyServer,
  user: { id: number; name: string; email: string },
  now: Date,
) {
  const existing = await findPasskeys(em, user.id);
  return JSON.stringify({
    rp: { id: relyingParty(issuer), name: shop },
    user: { id: Buffer.from(String(user.id)).toString('base64url'), name: user.email, displayName: user.name },
    challenge: challenges.issue(now),
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: existing.map(({ credentialId: id }) => ({ type: 'public-key', id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  });
}

/** Returns the JSON options that the page script uses to request a signature from any passkey registered with this server. */
export const createPasskeyRequestOptionsJson = (challenges: StatelessPasskeyChallenges, issuer: string, now: Date): string =>
  JSON.stringify({ rpId: relyingParty(issuer), challenge: challenges.issue(now), allowCredentials: [], userVerification: 'required' });

const jsonText = z
  .string()
  .max(20_000)
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'is not JSON' });
      return z.NEVER;
    }
  });
const credentialSchema = z
  .object({ id: z.string().max(1500), response: z.object({ clientDataJSON: z.string() }).passthrough() })
  .passthrough();
const clientDataSchema = z.object({ challenge: z.string() });

/**
 * Parses the response of the page script, and returns the credential and the signed challenge. Returns undefined if the response is
 * malformed or this server did not issue the challenge. The library verifies the signature.
 */
function parseCredential(answer: string, challenges: StatelessPasskeyChallenges, now: Date) {
  const { data: credential } = jsonText.pipe(credentialSchema).safeParse(answer);
  if (credential === undefined) return undefined;
  try {
    const { challenge } = clientDataSchema.parse(JSON.parse(Buffer.from(credential.response.clientDataJSON, 'base64url').toString()));
    return challenges.isValid(challenge, now) ? { credential, challenge } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the values that a signed credential must contain. */
const expectedValues = (issuer: string, challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: new URL(issuer).origin,
  expectedRPID: relyingParty(issuer),
});

/** Verifies and stores a new passkey, and returns its ID, or undefined if verification fails. Call this in a transaction. */
export async function verifyAndAddPasskey(
  em: EntityManager,
  challenges: StatelessPasskeyChallenges,
  issuer: string,
  { userId, name, answer }: { userId: number; name: string; answer: string },
  now: Date,
): Promise<number | undefined> {
  const parsed = parseCredential(answer, challenges, now);
  if (!parsed) return undefined;
  const { credential, challenge } = parsed;
  const verified = await undefinedOnError(async () => {
    const { verifyRegistrationResponse } = await loadWebAuthn();
    return verifyRegistrationResponse({
      response: z.custom<RegistrationResponseJSON>().parse(credential),
      ...expectedValues(issuer, challenge),
      supportedAlgorithmIDs: algorithms,
    });
  });
  if (verified?.verified !== true || !(await consumeSingleUseIdentifier(em, challenge, now))) return undefined;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const stored = { credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports };
  const [row] = await em
    .createQueryBuilder(Passkey)
    .insert({ user: userId, ...stored, name, addedAt: now })
    .onConflict('credentialId')
    .ignore()
    .returning('id')
    .execute<{ id: number }[]>('all');
  return row?.id;
}

/** Verifies a passkey signature and returns the user and the passkey, or undefined if verification fails. */
export async function verifyPasskeyAndRecordUse(
  em: EntityManager,
  challenges: StatelessPasskeyChallenges,
  issuer: string,
  answer: string,
  now: Date,
): Promise<{ userId: number; passkeyId: number } | undefined> {
  const parsed = parseCredential(answer, challenges, now);
  if (!parsed || parsed.credential.id.includes('\0')) return undefined;
  const { credential, challenge } = parsed;
  const activeUsers = em.createQueryBuilder(User).select('id').where({ status: 'active' });
  const where = { credentialId: credential.id, user: { $in: activeUsers.toRaw() } };
  const found = await em.findOne(Passkey, where, { disableIdentityMap: true });
  if (!found) return undefined;
  const verified = await undefinedOnError(async () => {
    const { verifyAuthenticationResponse } = await loadWebAuthn();
    return verifyAuthenticationResponse({
      response: z.custom<AuthenticationResponseJSON>().parse(credential),
      ...expectedValues(issuer, challenge),
      credential: {
        id: credential.id,
        publicKey: new Uint8Array(Buffer.from(found.publicKey, 'base64url')),
        counter: found.counter,
        transports: z.custom<AuthenticatorTransport[]>().parse(found.transports),
      },
    });
  });
  if (verified?.verified !== true || !(await consumeSingleUseIdentifier(em, challenge, now))) return undefined;
  await em.nativeUpdate(Passkey, { id: found.id }, { counter: verified.authenticationInfo.newCounter, lastUsedAt: now });
  return { userId: found.user, passkeyId: found.id };
}

/** Returns undefined for errors, because the library throws for every invalid credential. */
async function undefinedOnError<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

export const deletePasskey = async (em: EntityManager, userId: number, id: number): Promise<boolean> =>
  (await em.nativeDelete(Passkey, { id, user: userId })) > 0;

/** Removes all of the user's passkeys except those with these IDs. */
export async function deletePasskeysExcept(em: EntityManager, userId: number, keptIds: readonly number[]): Promise<void> {
  await em.nativeDelete(Passkey, { user: userId, ...(keptIds.length > 0 && { id: { $nin: [...keptIds] } }) });
}
