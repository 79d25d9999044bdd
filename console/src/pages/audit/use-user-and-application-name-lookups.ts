import { useApplicationNames } from '../../api/use-application-names.ts';
import { useUserNamesAndEmails } from '../../api/use-user-names.ts';
import { useAuditTranslations } from './use-audit-translations.ts';

export type UserAndApplicationNames = {
  /** Returns the name of a user, or the user ID if the name is unknown. */
  readonly user: (id: number) => string;
  /** Returns the e-mail address of a user if another of the users has the same name. */
  readonly distinguishingEmail: (id: number) => string | undefined;
  /** Returns the name of an application, or its client ID if the name is unknown. */
  readonly application: (clientId: string) => string;
  /** Returns the client ID of an application if another application has the same name. */
  readonly distinguishingClientId: (clientId: string) => string | undefined;
};

/**
 * Loads the names of users and applications, because audit events contain only IDs. Loads only names that the user is permitted to see.
 */
export function useUserAndApplicationNameLookups(userIds: readonly (number | null)[]): UserAndApplicationNames {
  const t = useAuditTranslations();
  const users = useUserNamesAndEmails(userIds);
  const { application, hasEqualName } = useApplicationNames();
  return {
    user: (id) => users.get(id)?.name ?? t('userId', { id: String(id) }),
    distinguishingEmail: (id) => {
      const user = users.get(id);
      return [...users].some(([otherId, other]) => otherId !== id && other.name === user?.name) ? user?.email : undefined;
    },
    application,
    distinguishingClientId: (clientId) => (hasEqualName(clientId) ? clientId : undefined),
  };
}
