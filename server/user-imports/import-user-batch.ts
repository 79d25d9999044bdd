import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import type { ImportOutcome } from '../imports/run-import.ts';
import { StoredPasswordHash } from '../oauth/passwords/stored-password-hash.entity.ts';
import { buildEmailEqualsFilter } from '../users/build-email-equals-filter.ts';
import { ImportedUser } from '../users/imported-user.entity.ts';
import { userFromEntity } from '../users/user-from-entity.ts';
import { User } from '../users/user.entity.ts';
import { parseUserRowsAndCompareWithExisting } from './parse-user-rows-and-compare-with-existing.ts';
import { computeUserFingerprint, type ImportedUserRow } from './parse-user-row.ts';
import type { PreparedUserFileRow } from './read-user-rows-and-mark-duplicates.ts';
import type { UserImportParams } from './user-import-parameters.ts';

type NewUser = { readonly row: ImportedUserRow; readonly storedPasswordHash: string | undefined };

/** Imports a batch of rows. Creates all new users in one step, and returns the outcome of each row. */
export async function importUserBatch(
  em: EntityManager,
  params: UserImportParams,
  items: readonly PreparedUserFileRow[],
): Promise<ImportOutcome[]> {
  const classified = await parseUserRowsAndCompareWithExisting(em, params, items);
  const needsHash = params.dry_run === 'false';
  if (needsHash && classified.some(({ item, row }) => row?.password_hash && item.storedPasswordHash === undefined))
    throw new Error('a user became new after the batch was prepared'); // the task is then retried
  const created = classified.flatMap(({ item, row }) => (row ? [{ row, storedPasswordHash: item.storedPasswordHash }] : []));
  if (created.length > 0) await createUsers(em, params, created);
  return classified.map(({ outcome }) => outcome ?? { outcome: 'created', issues: [] });
}

async function createUsers(em: EntityManager, params: UserImportParams, users: readonly NewUser[]): Promise<void> {
  await em.insertMany(
    User,
    users.map(({ row }) => toUserColumns(row)),
  );
  // MikroORM returns only the first ID.
  const filter = { ...buildEmailEqualsFilter(...users.map(({ row }) => row.email)), status: { $ne: 'closed' as const } };
  const created = await em.find(User, filter, { orderBy: { id: 'asc' }, disableIdentityMap: true });
  const byEmail = new Map(created.map((user) => [user.email.toLowerCase(), user]));
  const withUser = users.flatMap((each) => {
    const user = byEmail.get(each.row.email.toLowerCase());
    return user ? [{ ...each, user }] : [];
  });
  await em.insertMany(
    ImportedUser,
    withUser.map(({ row, user }) => ({
      user: user.id,
      source: params.source,
      externalId: row.external_id ?? null,
      fingerprint: computeUserFingerprint(row),
      metadata: row.metadata,
      consentedAt: row.consented_at === undefined ? null : new Date(row.consented_at),
    })),
  );
  const now = new Date();
  const hashes = withUser.flatMap(({ user, storedPasswordHash: hash }) =>
    hash === undefined ? [] : [{ user: user.id, hash, changedAt: now }],
  );
  if (hashes.length > 0) await em.insertMany(StoredPasswordHash, hashes);
  if (params.events === 'false') return;
  for (const { user } of withUser) await recordEvent(em, 'user.created', userFromEntity(user), user.id);
}

const toUserColumns = ({ name, email, email_verified: isVerified, status, locale }: ImportedUserRow) => ({
  name,
  email,
  emailVerification: isVerified ? ('verified' as const) : ('unverified' as const),
  status,
  locale: locale ?? null,
});
