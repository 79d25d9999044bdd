/**
 * API scopes. `consent` is the text that a user reads on the consent page.
 * `admin` scopes allow access to other users' resources, so an administrator has to approve them for an application.
 * `role: 'admin'` means that only administrators can use the scope; staff can use the other `admin` scopes.
 * `*.read` and `*.write` give access only to the resources of the token's user; `write` does not imply `read`.
 */
export const scopeDefinitions = {
  'users.read': { consent: 'See your name, e-mail address and other account details, such as language and status', admin: false },
  'users.write': { consent: 'Change your name and language, and close your account', admin: false },
  'users.manage': {
    consent: 'See all users, add customers, change their names, e-mail addresses and statuses, and close their accounts',
    admin: true,
  },
  'users.administer': {
    consent: 'Change the role of any user, change and close staff and administrator accounts, and import and export all users',
    admin: true,
    role: 'admin',
  },
  'products.write': { consent: 'Add and change products in the shop', admin: true },
  'orders.read': { consent: 'See your orders', admin: false },
  'orders.write': { consent: 'Place orders on your behalf, and at your expense', admin: false },
  'approvals.decide': { consent: 'See, approve and decline the orders that applications ask you to approve', admin: false },
  'orders.manage': { consent: 'See, place, change and cancel orders for all customers', admin: true },
  'payments.read': { consent: 'See your payments and refunds', admin: false },
  'payments.write': { consent: 'Pay for your orders', admin: false },
  'payments.manage': { consent: 'See and confirm the payments of all customers', admin: true },
  'refunds.write': { consent: 'Refund customers', admin: true },
  'shipments.write': { consent: 'Ship orders and update the status of parcels', admin: true },
  'statistics.read': { consent: 'See sales statistics, and how much each application uses the API', admin: true },
  'settings.write': { consent: 'Change the shop settings', admin: true },
  'branding.manage': { consent: 'Change the shop name, logo and colors on pages and in e-mails', admin: true, role: 'admin' },
  'tasks.read': { consent: 'See the exports and imports that you started', admin: false },
  'tasks.write': { consent: 'Start exports and imports on your behalf', admin: false },
  'events.read': { consent: 'Receive events about all data that the application can access', admin: false },
  'webhooks.read': { consent: 'See your webhooks and the URLs that they send events to', admin: false },
  'webhooks.write': { consent: 'Set up webhooks that send events to URLs that the application chooses', admin: false },
  'connected_apps.read': { consent: 'See which applications can use your account', admin: false },
  'connected_apps.write': { consent: 'Remove applications from your account, and change their order limits', admin: false },
  'api_keys.manage': { consent: 'Create API keys that act on your behalf until you revoke them', admin: false },
  'applications.manage': { consent: 'Register applications, and change what they are allowed to do', admin: true, role: 'admin' },
  'identity_providers.manage': { consent: 'Manage the external services that users can sign in with', admin: true, role: 'admin' },
  'signing_keys.manage': { consent: 'Rotate the keys that sign all tokens', admin: true, role: 'admin' },
  'backups.manage': { consent: 'See, create and check backups of all shop data', admin: true, role: 'admin' },
  'audit.read': { consent: 'See who signed in, and who changed permissions', admin: true, role: 'admin' },
} as const satisfies Record<string, { consent: string; admin: boolean; role?: 'admin' }>;

export type Scope = keyof typeof scopeDefinitions;

/**
 * Scopes that only a signed-in user with the role `admin` can use, and only after consent. Staff, applications that act on their own
 * behalf and API keys cannot use these scopes.
 */
export const administratorOnlyScopes: ReadonlySet<string> = new Set<Scope>(['users.administer']);

/**
 * Scopes that only the shop's own applications can have. Otherwise, a third-party application could approve another application's orders
 * without asking the customer. API keys cannot use these scopes, because the customer must have signed in recently.
 */
export const firstPartyOnlyScopes: ReadonlySet<string> = new Set<Scope>(['approvals.decide']);

/** Returns the roles of users who can use a scope. */
export const getRolesAllowedForScope = (scope: Scope): readonly ('customer' | 'staff' | 'admin')[] => {
  const { admin, role }: { admin: boolean; role?: 'admin' } = scopeDefinitions[scope];
  if (role !== undefined) return [role];
  return admin ? ['staff', 'admin'] : ['customer', 'staff', 'admin'];
};

const isScope = (name: string): name is Scope => Object.hasOwn(scopeDefinitions, name);

/** All API scopes in declaration order, without the OpenID Connect scopes such as `openid` and `offline_access`. */
export const scopeNames: readonly Scope[] = Object.keys(scopeDefinitions).filter(isScope);
