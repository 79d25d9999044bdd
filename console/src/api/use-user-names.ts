import { useQueries } from '@tanstack/react-query';
import { queries } from './client.ts';
import { usePermissions } from './permissions.tsx';

/** User names change rarely. */
const staleTime = 300_000;

/** Placeholder for a name that is still being loaded. */
export const loadingNamePlaceholder = '…';

/** The name of a user, or the placeholder, and the e-mail address when it has been loaded. */
type NameAndEmail = { readonly name: string; readonly email: string | undefined };

/** Loads names and e-mail addresses of users by ID; empty if the signed-in user is not permitted to see them. */
export function useUserNamesAndEmails(userIds: readonly (number | null)[]): ReadonlyMap<number, NameAndEmail> {
  const { can } = usePermissions();
  const ids = can('users.list') ? [...new Set(userIds)].filter((id) => id !== null) : [];
  return useQueries({
    queries: ids.map((id) => ({ ...queries.users.get(id), staleTime })),
    combine: (results) =>
      new Map(
        ids.flatMap((id, index) => {
          const { data, isPending } = results[index] ?? {};
          const name = data?.name ?? (isPending === true ? loadingNamePlaceholder : undefined);
          return name === undefined ? [] : [[id, { name, email: data?.email }] as const];
        }),
      ),
  });
}

/** Loads the names of users by ID; empty if the signed-in user is not permitted to see them. */
export const useUserNames = (userIds: readonly (number | null)[]): ReadonlyMap<number, string> =>
  new Map([...useUserNamesAndEmails(userIds)].map(([id, { name }]) => [id, name]));
