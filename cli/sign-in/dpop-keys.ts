import { dirname, join } from 'node:path';
import { SignInRequiredError } from '@mandate/client-sdk';
import { importProofKey, type ProofJwk, type ProofKey } from '@mandate/client-sdk/authorization';
import { readJsonFile, replaceFile } from '../files/atomic-json-file.ts';
import type { Credential, CredentialStore } from './credential-store.ts';
import { isObject } from '../contract-commands/schema-violations.ts';

/**
 * The keys that tokens are bound to, apart from the tokens: whoever gets hold of one file, or of the keyring, has nothing yet.
 * They are needed for every request, so they lie in a file and not in the keyring, which takes longer than most commands.
 */
const pathOf = ({ path }: CredentialStore): string => join(dirname(path), 'proof-keys.json');

/** The key of a credential that is bound to one. */
export function proofKeyOf(store: CredentialStore, profile: string, { bound }: Credential): () => Promise<ProofKey | undefined> {
  let key: Promise<ProofKey> | undefined;
  return async () => (bound ? (key ??= readKey(store, profile)) : undefined);
}

async function readKey(store: CredentialStore, profile: string): Promise<ProofKey> {
  const { [profile]: jwk } = await readKeys(store);
  if (!isObject(jwk)) throw new SignInRequiredError(`The key that your sign-in is bound to is not in ${pathOf(store)}`);
  return importProofKey(jwk);
}

/** Call it within `exclusively`. `undefined` forgets the key. */
export async function writeProofKey(store: CredentialStore, profile: string, jwk: ProofJwk | undefined): Promise<void> {
  const { [profile]: before, ...others } = await readKeys(store);
  if (before === undefined && jwk === undefined) return;
  await replaceFile(pathOf(store), `${JSON.stringify(jwk ? { ...others, [profile]: jwk } : others)}\n`);
}

async function readKeys(store: CredentialStore): Promise<Record<string, unknown>> {
  const keys = await readJsonFile(pathOf(store));
  return isObject(keys) ? keys : {};
}
