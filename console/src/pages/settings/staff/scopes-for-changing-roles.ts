/**
 * Scopes that permit changing roles. The console does not request these scopes at sign-in, because users would have to consent to them
 * every time.
 */
export const scopesForChangingRoles = ['users.administer'] as const;
