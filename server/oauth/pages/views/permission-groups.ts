import type { Scope } from '@mandate/contract';
import type { OpenIdConnectScope } from '../../protocol/oauth-scopes.ts';

/** Groups of permissions in the order of the consent page. The groups in `powerfulGroups` come last. */
export const permissionGroups = ['profile', 'orders', 'payments', 'other', 'account', 'shop'] as const;
export type PermissionGroup = (typeof permissionGroups)[number];

/** Groups that the consent page highlights: control over the user's account, and access beyond the user's own data. */
export const powerfulGroups: ReadonlySet<PermissionGroup> = new Set(['account', 'shop'] as const);

const groupByScope = {
  openid: 'profile',
  profile: 'profile',
  email: 'profile',
  offline_access: 'other',
  'users.read': 'profile',
  'users.write': 'account',
  'users.manage': 'shop',
  'users.administer': 'shop',
  'products.write': 'shop',
  'orders.read': 'orders',
  'orders.write': 'orders',
  'approvals.decide': 'account',
  'orders.manage': 'shop',
  'payments.read': 'payments',
  'payments.write': 'payments',
  'payments.manage': 'shop',
  'refunds.write': 'shop',
  'shipments.write': 'shop',
  'statistics.read': 'shop',
  'settings.write': 'shop',
  'branding.manage': 'shop',
  'tasks.read': 'other',
  'tasks.write': 'other',
  'events.read': 'other',
  'webhooks.read': 'other',
  'webhooks.write': 'other',
  'connected_apps.read': 'other',
  'connected_apps.write': 'account',
  'api_keys.manage': 'account',
  'applications.manage': 'shop',
  'identity_providers.manage': 'shop',
  'signing_keys.manage': 'shop',
  'backups.manage': 'shop',
  'audit.read': 'shop',
} as const satisfies Record<Scope | OpenIdConnectScope, PermissionGroup>;

export const getPermissionGroup = (scope: Scope | OpenIdConnectScope): PermissionGroup => groupByScope[scope];

/** Returns whether the consent page highlights the permission, and preselects it only if the user has granted it before. */
export const isPowerfulPermission = (scope: Scope | OpenIdConnectScope): boolean => powerfulGroups.has(getPermissionGroup(scope));
