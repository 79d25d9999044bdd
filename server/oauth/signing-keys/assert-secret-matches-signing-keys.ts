import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { decryptJwk } from './encrypted-jwk.ts';
import { SigningKey } from './signing-key.entity.ts';

/**
 * Verifies that the signing keys in this database were encrypted with this secret. A new database has no signing keys yet.
 * @param encryptionKey the key for signing keys from `deriveKeys`
 * @throws WrongEncryptionSecretError
 */
export async function assertSecretMatchesSigningKeys(em: EntityManager, encryptionKey: Buffer): Promise<void> {
  const newestFirst = { createdAt: 'desc', kid: 'asc' } as const;
  const [key] = await em.find(SigningKey, {}, { orderBy: newestFirst, limit: 1, disableIdentityMap: true });
  if (key) decryptJwk(key.encryptedJwk, encryptionKey, key.kid);
}
