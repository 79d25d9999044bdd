/**
 * What an application may be allowed to do. `consent` is the sentence a customer reads before agreeing;
 * `admin` scopes reach beyond one person's own things, so only an administrator's approval grants them.
 * `role: 'admin'` means that a user needs the role of an administrator to use the scope; staff can use the other `admin` scopes.
 * `*.read` and `*.write` reach only the token's own user; `write` does not imply `read`.
 */
export const scopes = {
  'users.read': { consent: 'See your name and e-mail address', admin: false },
  'users.write': { consent: 'Change your name, and close your account', admin: false },
  'users.manage': {
    consent: 'See every user, add customers, change their name, e-mail address and status, and close their accounts',
    admin: true,
  },
  'users.administer': {
    consent: 'Change the role of any user, and change and close the accounts of staff and administrators',
    admin: true,
    role: 'admin',
  },
  'products.write': { consent: 'Add and change products of the shop', admin: true },
  'orders.read': { consent: 'See your orders', admin: false },
  'orders.write': { consent: 'Place orders in your name: you pay for them', admin: false },
  'orders.manage': { consent: 'See, place, change and cancel the orders of every customer', admin: true },
  'payments.read': { consent: 'See what you paid and what was paid back', admin: false },
  'payments.write': { consent: 'Pay for your orders', admin: false },
  'payments.manage': { consent: 'See and confirm the payments of every customer', admin: true },
  'refunds.write': { consent: 'Pay money back to customers', admin: true },
  'shipments.write': { consent: 'Ship orders and say where the parcels are', admin: true },
  'settings.write': { consent: 'Change the settings of the shop', admin: true },
  'tasks.read': { consent: 'See the exports and imports you started', admin: false },
  'tasks.write': { consent: 'Start exports and imports in your name', admin: false },
  'events.read': { consent: 'Follow what happens to whatever it may see', admin: false },
  'webhooks.read': { consent: 'See where you have events sent to', admin: false },
  'webhooks.write': { consent: 'Have events sent to an address of its choice', admin: false },
  'connected_apps.read': { consent: 'See which applications can use your account', admin: false },
  'connected_apps.write': { consent: 'Remove applications from your account', admin: false },
  'api_keys.manage': { consent: 'Make keys that act in your name until you remove them', admin: false },
  'applications.manage': { consent: 'Register applications, and change what they may do', admin: true, role: 'admin' },
  'signing_keys.manage': { consent: 'Replace the keys that every sign-in is signed with', admin: true, role: 'admin' },
  'audit.read': { consent: 'See who signed in, and who changed permissions', admin: true, role: 'admin' },
} as const satisfies Record<string, { consent: string; admin: boolean; role?: 'admin' }>;

export type Scope = keyof typeof scopes;

/**
 * Scopes that work only for a signed-in user with the role `admin`: never for staff, for an application that acts for itself or for an
 * API key, and never without the consent page.
 */
export const administratorScopes: ReadonlySet<string> = new Set<Scope>(['users.administer']);

/** The roles of users who can use a scope. */
export const rolesFor = (scope: Scope): readonly ('customer' | 'staff' | 'admin')[] => {
  const { admin, role }: { admin: boolean; role?: 'admin' } = scopes[scope];
  if (role !== undefined) return [role];
  return admin ? ['staff', 'admin'] : ['customer', 'staff', 'admin'];
};

const isScope = (name: string): name is Scope => Object.hasOwn(scopes, name);

/** Every scope of the API, in the order they are declared. OpenID Connect's own (`openid`, `offline_access`, ...) are not among them. */
export const scopeNames: readonly Scope[] = Object.keys(scopes).filter(isScope);
