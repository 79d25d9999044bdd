import { Application } from '../applications/application.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { UserConsent } from '../oauth/grants/consent.entity.ts';
import { toExportedPasswordHash } from '../oauth/passwords/imported/stored-imported-password-hash.ts';
import { StoredPasswordHash } from '../oauth/passwords/stored-password-hash.entity.ts';
import { ImportedUser } from '../users/imported-user.entity.ts';
import { userFromEntity } from '../users/user-from-entity.ts';
import type { User } from '../users/user.entity.ts';

/** The values of one row of the file, by column name. */
export type UserExportRow = Readonly<Record<string, string | number | boolean | null | Readonly<Record<string, string>>>>;

/** Returns one row of the file for each user, in the order of `users`. */
export async function readUserExportRows(em: EntityManager, users: readonly User[], withPasswordHashes: boolean): Promise<UserExportRow[]> {
  const ids = users.map(({ id }) => id);
  const imported = await em.find(ImportedUser, { user: { $in: ids } }, { disableIdentityMap: true });
  const passwords = withPasswordHashes ? await em.find(StoredPasswordHash, { user: { $in: ids } }, { disableIdentityMap: true }) : [];
  const importedByUser = new Map(imported.map((each) => [each.user, each]));
  const hashByUser = new Map(passwords.map(({ user, hash }) => [user, toExportedPasswordHash(hash)]));
  return users.map((user) => {
    const { source, externalId, metadata, consentedAt } = importedByUser.get(user.id) ?? {};
    return {
      ...userFromEntity(user),
      source: source ?? null,
      external_id: externalId ?? null,
      metadata: metadata ?? {},
      consented_at: consentedAt?.toISOString() ?? null,
      password_hash: hashByUser.get(user.id) ?? null,
    };
  });
}

/** Reads one row for each consent of these users, ordered by user. */
export async function readConsentExportRows(em: EntityManager, users: readonly User[]): Promise<UserExportRow[]> {
  const userById = new Map(users.map((user) => [user.id, user]));
  const orderBy = { user: 'asc', application: 'asc' } as const;
  const consents = await em.find(UserConsent, { user: { $in: [...userById.keys()] } }, { orderBy, disableIdentityMap: true });
  const applicationIds = [...new Set(consents.map(({ application }) => application))];
  const applications = await em.find(Application, { id: { $in: applicationIds } }, { disableIdentityMap: true });
  const applicationById = new Map(applications.map((application) => [application.id, application]));
  return consents.map(({ user, application, scopes, grantedAt }) => ({
    user_id: user,
    email: userById.get(user)?.email ?? null,
    client_id: applicationById.get(application)?.clientId ?? null,
    application: applicationById.get(application)?.name ?? null,
    scopes: scopes.join(' '),
    granted_at: grantedAt.toISOString(),
  }));
}
