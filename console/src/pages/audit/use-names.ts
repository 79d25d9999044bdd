import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/client.ts';
import { usePermissions } from '../../api/permissions.tsx';
import { useUserNames } from '../../api/use-user-names.ts';
import { useAuditMessages } from './use-audit-messages.ts';

export type Names = {
  /** Returns the name of a user, or the user ID if the name is unknown. */
  readonly user: (id: number) => string;
  /** Returns the name of an application, or its client ID if the name is unknown. */
  readonly application: (clientId: string) => string;
};

/** Names change rarely. */
const staleTime = 300_000;

/** Loads the names of users and applications if the user's permissions include them: audit events contain only IDs. */
export function useNames(userIds: readonly (number | null)[]): Names {
  const t = useAuditMessages();
  const { can } = usePermissions();
  const userNames = useUserNames(userIds);
  const { data: applications } = useQuery({
    ...queries.applications.list({ limit: 100 }),
    staleTime,
    enabled: can('applications.list'),
  });
  const applicationNames = new Map(applications?.data.map(({ client_id, name }) => [client_id, name]));
  return {
    user: (id) => userNames.get(id) ?? t('userId', { id: String(id) }),
    application: (clientId) => applicationNames.get(clientId) ?? clientId,
  };
}
