import { useQuery } from '@tanstack/react-query';
import { queries } from './client.ts';
import { usePermissions } from './permissions.tsx';
import { loadingNamePlaceholder } from './use-user-names.ts';

/** Application names change rarely. */
const staleTime = 300_000;

type ApplicationNames = {
  /** Returns the name of an application, or its client ID if the name is unknown. */
  readonly application: (clientId: string) => string;
  /** Returns whether another application has the same name. */
  readonly hasEqualName: (clientId: string) => boolean;
};

/** Loads the names of the applications if the user is permitted to see them. */
export function useApplicationNames(): ApplicationNames {
  const isPermitted = usePermissions().can('applications.list');
  const { data, isLoading } = useQuery({ ...queries.applications.list({ limit: 100 }), staleTime, enabled: isPermitted });
  const names = new Map(data?.data.map(({ client_id: clientId, name }) => [clientId, name]));
  return {
    application: (clientId) => names.get(clientId) ?? (isLoading ? loadingNamePlaceholder : clientId),
    hasEqualName: (clientId) => data?.data.some((other) => other.client_id !== clientId && other.name === names.get(clientId)) ?? false,
  };
}

/** Returns a function that looks up the name of an application. If the name is unknown, the function returns the client ID. */
export const useApplicationNameLookup = (): ((clientId: string) => string) => useApplicationNames().application;
