import { defineEntity, p } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { User } from './user.entity.ts';

/** A user that a user import created, with data that only imports and exports use. */
export const ImportedUser = defineEntity({
  name: 'ImportedUser',
  tableName: 'imported_users',
  properties: {
    user: () => p.oneToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    /** Name of the other system. */
    source: p.text(),
    /**
     * ID of the user in the other system. The ID is kept after the account is closed, so that a repeated import does not create the account
     * again.
     */
    externalId: p.text().nullable(),
    /** SHA-256 of the imported data; `null` after the account was closed. */
    fingerprint: p.text().nullable(),
    metadata: p.json<Readonly<Record<string, string>>>(),
    consentedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'imported_users_source_external_id', properties: ['source', 'externalId'] }],
});

/** Deletes the imported personal data of a closed account, except the external ID. */
export async function eraseImportedUserData(em: EntityManager, userId: number): Promise<void> {
  await em.nativeUpdate(ImportedUser, { user: userId }, { fingerprint: null, metadata: {}, consentedAt: null });
}
