import { useQuery } from '@tanstack/react-query';
import { queries } from './client.ts';
import { usePermissions } from './permissions.tsx';
import { loadingNamePlaceholder } from './use-user-names.ts';

/** Application names change rarely. */
const staleTime = 300_000;

/**
 * Loads the names of the applications if the user is permitted to see them. Returns a function that returns the name of an application, or
 * its client ID if the name is unknown.
 */
export function useApplicationNameLookup(): (clientId: string) => string {
  const isPermitted = usePermissions().can('applications.list');
  const { data, isLoading } = useQuery({ ...queries.applications.list({ limit: 100 }), staleTime, enabled: isPermitted });
  const names = new Map(data?.data.map(({ client_id: clientId, name }) => [clientId, name]));
  return (clientId) => names.get(clientId) ?? (isLoading ? loadingNamePlaceholder : clientId);
}
