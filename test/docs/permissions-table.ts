/** `npm run permissions` generates the permissions table in SECURITY.md from the contract and the server's authorization rules. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  apiKeyCreateRequestSchema,
  contract,
  getRouteMetadata,
  listRoutes,
  type Scope,
  scopeNames,
  scopeDefinitions,
} from '@mandate/contract';
import { scopesOfSelfRegisteredApplications } from '../../server/applications/validate-and-create-application.ts';
import { canUseScope } from '../../server/http/middleware/authorize-by-scope.ts';
import type { Principal } from '../../server/http/request/principal-and-token-types.ts';

export const securityFile = join(import.meta.dirname, '../../SECURITY.md');
const [begin, end] = ['<!-- permissions: begin -->', '<!-- permissions: end -->'];

type User = Principal['user'];
const principalOf = (user: User): Principal => ({ user, clientId: 'any', scopes: new Set(scopeNames) });
const userWith = (role: NonNullable<User>['role']): User => ({ id: 1, role });

const keyScopes = new Set<string>(apiKeyCreateRequestSchema.shape.scopes.element.options);

/** The table columns, one for each kind of caller. Each function returns whether a caller of this kind can use a granted scope. */
const columns: Record<string, (scope: Scope) => boolean> = {
  customer: (scope) => canUseScope(principalOf(userWith('customer')), scope),
  staff: (scope) => canUseScope(principalOf(userWith('staff')), scope),
  administrator: (scope) => canUseScope(principalOf(userWith('admin')), scope),
  'application without a user': (scope) => canUseScope(principalOf(null), scope),
  'self-registered application': (scope) => scopesOfSelfRegisteredApplications.includes(scope),
  'API key': (scope) => keyScopes.has(scope),
};

const operationsWith = (scope: Scope): string[] =>
  listRoutes(contract).flatMap((route) => {
    const { access, operationId } = getRouteMetadata(route);
    return typeof access !== 'string' && access.includes(scope) ? [`\`${operationId}\``] : [];
  });

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export function permissionsTable(): string {
  const names = ['scope', 'allows', ...Object.keys(columns), 'operations that accept it'];
  const rows = scopeNames.map((scope) => {
    const cells = Object.values(columns).map((isAllowed) => (isAllowed(scope) ? 'yes' : '–'));
    return row([`\`${scope}\``, scopeDefinitions[scope].consent, ...cells, operationsWith(scope).join(', ') || 'none alone']);
  });
  return [row(names), row(names.map(() => '---')), ...rows].join('\n');
}

/** Returns the text of SECURITY.md with an updated permissions table. */
export function replacePermissionsTable(text: string): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`SECURITY.md needs a line ${begin} and a line ${end}`);
  return `${before}${begin}\n\n${permissionsTable()}\n\n${end}${after}`;
}

if (import.meta.main) await writeFile(securityFile, replacePermissionsTable(await readFile(securityFile, 'utf8')));
