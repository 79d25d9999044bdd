import type { Operation, Permissions } from '../../api/permissions.tsx';

const sections = [
  { path: 'webhooks', operation: 'webhooks.list' },
  { path: 'events', operation: 'events.list' },
  { path: 'api-keys', operation: 'apiKeys.list' },
  { path: 'signing-keys', operation: 'signingKeys.rotate' },
] as const satisfies readonly { readonly path: string; readonly operation: Operation }[];

/** Returns the sections of the page that the user may open. */
export const listPermittedDevelopersSections = (can: Permissions['can']): readonly (typeof sections)[number][] =>
  sections.filter(({ operation }) => can(operation));
