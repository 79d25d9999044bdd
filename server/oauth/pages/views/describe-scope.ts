import type { PageSettings } from './page-layout-and-form-fields.ts';

/**
 * Returns a scope's description in the language of the page. The text of `users.read` names only the data that the other scopes do not
 * include, because a checkbox for data that are always included would be contradictory.
 * @param allScopes scopes that are granted or requested together with this scope
 */
export function describeScope(
  { messages: { permission } }: Pick<PageSettings, 'messages'>,
  scope: string,
  allScopes: readonly string[],
): string {
  const [hasName, hasEmail] = [allScopes.includes('profile'), allScopes.includes('email')];
  const included = hasName && hasEmail ? 'nameAndEmail' : hasName ? 'name' : hasEmail ? 'email' : 'other';
  const texts: Readonly<Record<string, string>> = { ...permission, 'users.read': permission['users.read']({ included }) };
  return texts[scope] ?? scope;
}
