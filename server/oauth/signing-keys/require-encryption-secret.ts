import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { decryptJwk } from './encrypted-jwk.ts';

const newestKey = prepareStatement<{ kid: string; encrypted_jwk: string }>(
  'find_newest_signing_key',
  'select kid, encrypted_jwk from signing_keys order by created_at desc, kid limit 1',
);

/**
 * Verifies that the signing keys in this database were encrypted with this secret. A new database has no signing keys yet.
 * @param encryptionKey the key for signing keys from `deriveKeys`
 * @throws WrongSecretError
 */
export async function requireEncryptionSecret(em: EntityManager, encryptionKey: Buffer): Promise<void> {
  const [key] = await newestKey(em, []);
  if (key) decryptJwk(key.encrypted_jwk, encryptionKey, key.kid);
}
