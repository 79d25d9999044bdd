/** Scopes that permit changing roles. The console does not request them at sign-in, because users must always consent to them. */
export const scopesForChangingRoles = ['users.administer'] as const;
