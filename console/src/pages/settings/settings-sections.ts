import type { Operation, Permissions } from '../../api/permissions.tsx';

const sections = [
  { path: 'branding', operation: 'branding.update' },
  { path: 'delivery', operation: 'deliveryMethods.replace' },
  { path: 'staff', operation: 'users.list' },
  { path: 'identity-providers', operation: 'identityProviders.list' },
  { path: 'backups', operation: 'backups.list' },
] as const satisfies readonly { readonly path: string; readonly operation: Operation }[];

/** Returns the sections of the page that the user may open. */
export const listPermittedSettingsSections = (can: Permissions['can']): readonly (typeof sections)[number][] =>
  sections.filter(({ operation }) => can(operation));
