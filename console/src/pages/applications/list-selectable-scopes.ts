import { scopesOf, type ApplicationCreate } from '@mandate/client-sdk';
import { consoleEnvironment } from '../../console-environment.ts';
import type { ApplicationKind } from './application-kinds.ts';

export type Scope = ApplicationCreate['scopes'][number];

/** Scopes that only the shop's own applications can have. */
const firstPartyOnlyScopes: ReadonlySet<string> = new Set(['approvals.decide']);
/** Scopes that only a signed-in administrator can use. */
const administratorScopes: ReadonlySet<string> = new Set(['users.administer']);

const allScopes: readonly Scope[] = [...new Set(Object.values(scopesOf).flat())];

/** Returns whether a scope permits access to all of the shop's data, not only to the user's data. */
export const isScopeForAllShopData = (scope: string): boolean =>
  consoleEnvironment.staffScopes.includes(scope) || administratorScopes.has(scope);

/** Returns the scopes that this kind of application can have. */
export const listSelectableScopes = (kind: ApplicationKind, isFirstParty: boolean): readonly Scope[] =>
  allScopes.filter(
    (scope) =>
      (isFirstParty || !firstPartyOnlyScopes.has(scope)) &&
      (kind !== 'service' || (!administratorScopes.has(scope) && !firstPartyOnlyScopes.has(scope))),
  );
