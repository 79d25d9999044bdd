import { useQueries } from '@tanstack/react-query';
import { queries } from './client.ts';
import { usePermissions } from './permissions.tsx';

/** User names change rarely. */
const staleTime = 300_000;

/** Placeholder for a name that is still being loaded. */
export const loadingNamePlaceholder = '…';

/** Loads the names of users by ID; empty if the signed-in user is not permitted to see them. */
export function useUserNames(userIds: readonly (number | null)[]): ReadonlyMap<number, string> {
  const { can } = usePermissions();
  const ids = can('users.list') ? [...new Set(userIds)].filter((id) => id !== null) : [];
  return useQueries({
    queries: ids.map((id) => ({ ...queries.users.get(id), staleTime })),
    combine: (results) =>
      new Map(
        ids.flatMap((id, index) => {
          const { data, isPending } = results[index] ?? {};
          const name = data?.name ?? (isPending === true ? loadingNamePlaceholder : undefined);
          return name === undefined ? [] : [[id, name] as const];
        }),
      ),
  });
}
