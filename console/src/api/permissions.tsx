import { scopesOf, type User } from '@mandate/client-sdk';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { consoleEnvironment } from '../console-environment.ts';
import { queries } from './client.ts';

/** Name of an API operation, such as `orders.cancel`. */
export type Operation = keyof typeof scopesOf;

export type Permissions = {
  /** The signed-in user; `undefined` while loading, or if the token has no scope that permits reading the user. */
  readonly user: User | undefined;
  /** Whether the token has a scope that only staff can have. */
  readonly isStaff: boolean;
  /** Returns whether the token's scopes permit the operation. */
  readonly can: (operation: Operation) => boolean;
};

const PermissionsContext = createContext<Permissions | undefined>(undefined);

/** Loads the signed-in user and the scopes of the token. The server returns only scopes that the user's role permits. */
export function PermissionsProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { data: authorization } = useSuspenseQuery(queries.authorization.get());
  const { can, isStaff } = useMemo(() => createPermissionCheck(authorization.scopes), [authorization.scopes]);
  const { data: user } = useQuery({ ...queries.users.me(), enabled: can('users.me') });
  const value = useMemo(() => ({ user, isStaff, can }), [user, isStaff, can]);
  return <PermissionsContext value={value}>{children}</PermissionsContext>;
}

function createPermissionCheck(scopes: readonly string[]): Pick<Permissions, 'can' | 'isStaff'> {
  const granted = new Set(scopes);
  const can = (operation: Operation): boolean => {
    const accepted: readonly string[] = scopesOf[operation];
    return accepted.length === 0 || accepted.some((scope) => granted.has(scope));
  };
  return { can, isStaff: consoleEnvironment.staffScopes.some((scope) => granted.has(scope)) };
}

export function usePermissions(): Permissions {
  const permissions = useContext(PermissionsContext);
  if (!permissions) throw new Error('usePermissions must be called inside PermissionsProvider');
  return permissions;
}

/** Renders the children only if the operation is permitted, so that users see only actions that they are permitted to perform. */
export function IfPermitted({ operation, children }: { readonly operation: Operation; readonly children: ReactNode }): ReactNode {
  return usePermissions().can(operation) ? children : null;
}
