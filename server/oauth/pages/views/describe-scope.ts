import type { PageSettings } from './page-layout-and-form-fields.ts';

/**
 * Returns a scope's description in the language of the page. The text of `users.read` does not mention data that `profile` or `email`
 * already gives access to. Otherwise, the consent page would have a checkbox for data to which the application always has access.
 * @param allScopes all scopes of the same grant, API key or authorization request
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
