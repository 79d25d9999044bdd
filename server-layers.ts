/**
 * The layers of `server/`, from the lowest to the highest. A folder may import folders of lower layers only. Code that two folders of one layer need
 * belongs to a lower layer. The linter reads this list (oxlint.config.ts).
 */
export const serverLayers: readonly (readonly string[])[] = [
  ['crypto', 'files', 'logging', 'memory', 'outgoing-http'],
  ['database'],
  ['http', 'jobs', 'mail'],
  ['audit', 'events', 'usage', 'versions'],
  ['applications', 'delivery-methods', 'products', 'rate-limits', 'users'],
  ['api-keys', 'orders', 'tasks'],
  ['imports', 'oauth', 'order-exports', 'payments', 'shipments', 'webhooks'],
  ['access-management', 'config', 'docs', 'metrics', 'order-imports', 'problems', 'product-imports', 'refunds'],
  ['first-run', 'mcp', 'order-lifecycle', 'schema'],
  ['backup', 'site'],
  ['app'],
  ['process'],
  ['command'],
];

/** The shop knows an access token only by the principal of the request, and the authorization server knows no resource of the shop. */
const authorization = ['access-management', 'oauth'];
const shop = [
  'delivery-methods',
  'imports',
  'order-exports',
  'order-imports',
  'order-lifecycle',
  'orders',
  'payments',
  'product-imports',
  'products',
  'refunds',
  'shipments',
  'tasks',
  'webhooks',
];

export const serverFolders: readonly string[] = serverLayers.flat();

/** Returns the folders of `server/` that files of `folder` must not import. */
export function forbiddenFolders(folder: string): readonly string[] {
  const layer = serverLayers.findIndex((folders) => folders.includes(folder));
  const apart = shop.includes(folder) ? authorization : authorization.includes(folder) ? shop : [];
  const forbidden = new Set([...serverLayers.slice(layer).flat(), ...apart]);
  forbidden.delete(folder);
  return [...forbidden].toSorted();
}
