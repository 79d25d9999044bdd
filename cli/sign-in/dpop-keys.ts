import { dirname, join } from 'node:path';
import { SignInRequiredError } from '@mandate/client-sdk';
import { importProofKey, type ProofJwk, type ProofKey } from '@mandate/client-sdk/authorization';
import { readJsonFileOrEmptyObject } from '../files/read-json-file-or-empty-object.ts';
import { replaceFileAtomically } from '../files/replace-file-atomically.ts';
import type { Credential, CredentialStore } from './credential-store.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

/**
 * Returns the path of the DPoP key file. The keys are stored separately from the tokens, so that an attacker who obtains only one of the
 * two files cannot use the tokens. The keys are not in the keyring, because every request needs a key, and reading the keyring takes longer
 * than most commands.
 */
const keyFilePath = ({ path }: CredentialStore): string => join(dirname(path), 'proof-keys.json');

/**
 * Returns a function that loads a credential's DPoP key on first use. The function resolves to undefined if the tokens are not bound to a
 * key.
 */
export function createDpopKeyLoader(store: CredentialStore, profile: string, { bound }: Credential): () => Promise<ProofKey | undefined> {
  let key: Promise<ProofKey> | undefined;
  return async () => (bound ? (key ??= readKey(store, profile)) : undefined);
}

async function readKey(store: CredentialStore, profile: string): Promise<ProofKey> {
  const { [profile]: jwk } = await readKeys(store);
  if (!isRecord(jwk)) throw new SignInRequiredError(`The key for your sign-in is missing from ${keyFilePath(store)}`);
  return importProofKey(jwk);
}

/** Saves a profile's DPoP key, or deletes the stored one if `undefined` is passed. The caller must hold the lock (`exclusively`). */
export async function saveOrDeleteDpopKey(store: CredentialStore, profile: string, jwk: ProofJwk | undefined): Promise<void> {
  const { [profile]: before, ...others } = await readKeys(store);
  if (before === undefined && jwk === undefined) return;
  await replaceFileAtomically(keyFilePath(store), `${JSON.stringify(jwk ? { ...others, [profile]: jwk } : others)}\n`);
}

async function readKeys(store: CredentialStore): Promise<Record<string, unknown>> {
  const keys = await readJsonFileOrEmptyObject(keyFilePath(store));
  return isRecord(keys) ? keys : {};
}
