import type { InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { SigningKey } from './signing-key.entity.ts';

export type SigningKeyEntity = InferEntity<typeof SigningKey>;
export type SigningKeyAlgorithm = SigningKeyEntity['algorithm'];

/** Returns all signing keys, grouped by algorithm, newest first. */
export const listAllSigningKeys = (em: EntityManager): Promise<SigningKeyEntity[]> =>
  em.find(SigningKey, {}, { orderBy: { algorithm: 'asc', signsFrom: 'desc', kid: 'asc' }, disableIdentityMap: true });

/**
 * Returns, for each algorithm, the time at which signing with the newest key starts. Expects the keys in the order that
 * `listAllSigningKeys` returns.
 */
export const getNewestKeySigningStartByAlgorithm = (
  keys: readonly Pick<SigningKeyEntity, 'algorithm' | 'signsFrom'>[],
): Map<SigningKeyAlgorithm, Date> => new Map(keys.toReversed().map(({ algorithm, signsFrom }) => [algorithm, signsFrom]));
