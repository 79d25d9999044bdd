import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareExpiredRowDeletion } from '../../database/queries/expired-rows.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { Passkey } from './second-factor.entity.ts';

// Loaded on demand: loading the library takes a tenth of a second, and most sign-ins use a password.
const loadWebAuthn = () => import('@simplewebauthn/server');

const challengeLifetimeMs = 60 * 60 * 1000;
/** ES256, EdDSA and RS256. By default, the library prefers keys that are a kilobyte long and that few devices support. */
const algorithms = [-7, -8, -257];

/**
 * Issues and verifies passkey challenges. A challenge contains its expiry and a MAC, so that challenges need not be stored until they are
 * used.
 */
export class PasskeyChallenges {
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

const insertUsedChallenge = prepareStatement<{ challenge: string }>(
  'consume_challenge',
  'insert into challenges (challenge, expires_at) values ($1, $2) on conflict do nothing returning challenge',
);

/** Deletes used challenges that have expired. */
export const deleteExpiredChallenges = prepareExpiredRowDeletion({
  table: 'challenges',
  key: 'challenge',
  isExpired: 'expires_at < $1',
  orderBy: 'expires_at',
});

/** Marks a challenge as used. Returns false if the challenge was already used. */
export const consumeChallenge = async (em: EntityManager, challenge: string, now: Date): Promise<boolean> =>
  (await insertUsedChallenge(em, [challenge, new Date(now.getTime() + challengeLifetimeMs)])).length > 0;

export type PasskeySummary = { readonly id: number; readonly name: string; readonly addedAt: Date; readonly lastUsedAt: Date | null };

const findPasskeys = prepareStatement<{ id: number; name: string; added_at: string; last_used_at: string | null; credential_id: string }>(
  'list_passkeys',
  'select id, name, added_at, last_used_at, credential_id from passkeys where user_id = $1 order by id',
);
export const listPasskeys = async (em: EntityManager, userId: number): Promise<PasskeySummary[]> =>
  (await findPasskeys(em, [userId])).map(({ id, name, added_at: addedAt, last_used_at: lastUsedAt }) => ({
    id,
    name,
    addedAt: new Date(addedAt),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
  }));

type PasskeyServer = { readonly issuer: string; readonly shop: string };
const relyingParty = (issuer: string): string => new URL(issuer).hostname;

/** Returns the JSON options with which the page script creates a passkey. */
export async function passkeyCreationOptionsJson(
  em: EntityManager,
  challenges: PasskeyChallenges,
  { issuer, shop }: PasskeyServer,
  user: { id: number; name: string; email: string },
  now: Date,
) {
  const existing = await findPasskeys(em, [user.id]);
  return JSON.stringify({
    rp: { id: relyingParty(issuer), name: shop },
    user: { id: Buffer.from(String(user.id)).toString('base64url'), name: user.email, displayName: user.name },
    challenge: challenges.issue(now),
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: existing.map(({ credential_id: id }) => ({ type: 'public-key', id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  });
}

/** Returns the JSON options with which the page script requests a signature from any passkey registered with this server. */
export const passkeyRequestOptionsJson = (challenges: PasskeyChallenges, issuer: string, now: Date): string =>
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

/** Returns the challenge in the credential if this server issued it. The WebAuthn library verifies the signature. */
function findIssuedChallenge(answer: z.infer<typeof credentialSchema>, challenges: PasskeyChallenges, now: Date): string | undefined {
  try {
    const { challenge } = clientDataSchema.parse(JSON.parse(Buffer.from(answer.response.clientDataJSON, 'base64url').toString()));
    return challenges.isValid(challenge, now) ? challenge : undefined;
  } catch {
    return undefined;
  }
}

const insertPasskey = prepareStatement<{ id: number }>(
  'insert_passkey',
  `insert into passkeys (user_id, credential_id, public_key, counter, transports, name, added_at)
   values ($1, $2, $3, $4, $5::text[], $6, $7) on conflict (credential_id) do nothing returning id`,
);

/** Verifies and stores a new passkey and returns its ID, or undefined if verification fails. Call this in a transaction. */
export async function addPasskey(
  em: EntityManager,
  challenges: PasskeyChallenges,
  issuer: string,
  { userId, name, answer }: { userId: number; name: string; answer: string },
  now: Date,
): Promise<number | undefined> {
  const parsed = jsonText.pipe(credentialSchema).safeParse(answer);
  const challenge = parsed.success ? findIssuedChallenge(parsed.data, challenges, now) : undefined;
  if (!parsed.success || challenge === undefined) return undefined;
  const verified = await undefinedOnError(async () => {
    const { verifyRegistrationResponse } = await loadWebAuthn();
    return verifyRegistrationResponse({
      response: z.custom<RegistrationResponseJSON>().parse(parsed.data),
      expectedChallenge: challenge,
      expectedOrigin: new URL(issuer).origin,
      expectedRPID: relyingParty(issuer),
      supportedAlgorithmIDs: algorithms,
    });
  });
  if (verified?.verified !== true || !(await consumeChallenge(em, challenge, now))) return undefined;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const [row] = await insertPasskey(em, [userId, id, Buffer.from(publicKey).toString('base64url'), counter, transports, name, now]);
  return row?.id;
}

type Row = { id: number; user_id: number; public_key: string; counter: number; transports: AuthenticatorTransport[] };
const findCredential = prepareStatement<Row>(
  'find_passkey',
  `select p.id, p.user_id, p.public_key, p.counter, p.transports from passkeys p
   join users u on u.id = p.user_id and u.status = 'active' where p.credential_id = $1`,
);
const updatePasskeyUse = prepareStatement('record_passkey_use', 'update passkeys set counter = $2, last_used_at = $3 where id = $1');

/** Verifies a passkey signature and returns the user and the passkey, or undefined if verification fails. */
export async function verifyPasskey(
  em: EntityManager,
  challenges: PasskeyChallenges,
  issuer: string,
  answer: string,
  now: Date,
): Promise<{ userId: number; passkeyId: number } | undefined> {
  const parsed = jsonText.pipe(credentialSchema).safeParse(answer);
  const challenge = parsed.success ? findIssuedChallenge(parsed.data, challenges, now) : undefined;
  if (!parsed.success || challenge === undefined || parsed.data.id.includes('\0')) return undefined;
  const [found] = await findCredential(em, [parsed.data.id]);
  if (!found) return undefined;
  const verified = await undefinedOnError(async () => {
    const { verifyAuthenticationResponse } = await loadWebAuthn();
    return verifyAuthenticationResponse({
      response: z.custom<AuthenticationResponseJSON>().parse(parsed.data),
      expectedChallenge: challenge,
      expectedOrigin: new URL(issuer).origin,
      expectedRPID: relyingParty(issuer),
      credential: {
        id: parsed.data.id,
        publicKey: new Uint8Array(Buffer.from(found.public_key, 'base64url')),
        counter: found.counter,
        transports: found.transports,
      },
    });
  });
  if (verified?.verified !== true || !(await consumeChallenge(em, challenge, now))) return undefined;
  await updatePasskeyUse(em, [found.id, verified.authenticationInfo.newCounter, now]);
  return { userId: found.user_id, passkeyId: found.id };
}

/** Returns undefined for errors, because the library throws for every invalid credential. */
async function undefinedOnError<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

const deletePasskey = prepareStatement<{ name: string }>(
  'delete_passkey',
  'delete from passkeys where id = $1 and user_id = $2 returning name',
);
export const removePasskey = async (em: EntityManager, userId: number, id: number): Promise<boolean> =>
  (await deletePasskey(em, [id, userId])).length > 0;

/** Removes every passkey of the user except those with these IDs. */
export async function removePasskeysExcept(em: EntityManager, userId: number, keptIds: readonly number[]): Promise<void> {
  await em.nativeDelete(Passkey, { user: userId, ...(keptIds.length > 0 && { id: { $nin: [...keptIds] } }) });
}
