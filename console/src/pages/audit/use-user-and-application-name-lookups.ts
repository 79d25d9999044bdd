import { useApplicationNameLookup } from '../../api/use-application-name-lookup.ts';
import { useUserNames } from '../../api/use-user-names.ts';
import { useAuditTranslations } from './use-audit-translations.ts';

export type UserAndApplicationNames = {
  /** Returns the name of a user, or the user ID if the name is unknown. */
  readonly user: (id: number) => string;
  /** Returns the name of an application, or its client ID if the name is unknown. */
  readonly application: (clientId: string) => string;
};

/**
 * Loads the names of users and applications, because audit events contain only IDs. Loads only names that the user is permitted to see.
 */
export function useUserAndApplicationNameLookups(userIds: readonly (number | null)[]): UserAndApplicationNames {
  const t = useAuditTranslations();
  const userNames = useUserNames(userIds);
  const application = useApplicationNameLookup();
  return { user: (id) => userNames.get(id) ?? t('userId', { id: String(id) }), application };
}
