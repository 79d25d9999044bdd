type Layer = {
  /** Shop code, which sees only the principal of a request, not the access token. */
  readonly shop?: readonly string[];
  /** Authorization server code, which does not use shop resources. */
  readonly authorization?: readonly string[];
  /** Code that belongs to neither the shop nor the authorization server. */
  readonly common?: readonly string[];
};

/**
 * The layers of `server/`, from the lowest to the highest. A folder may import only from folders in lower layers. Code that two folders in
 * the same layer need belongs in a lower layer. The linter reads this list (oxlint.config.ts).
 */
const layers: readonly Layer[] = [
  { common: ['crypto', 'files', 'languages', 'logging', 'memory', 'optional-packages', 'outgoing-http'] },
  { common: ['database'] },
  { common: ['http', 'jobs', 'mail'] },
  { common: ['audit', 'events', 'logos', 'usage', 'api-versions'] },
  { common: ['applications', 'branding', 'order-limits', 'rate-limits', 'users'], shop: ['delivery-methods', 'products'] },
  { common: ['api-keys', 'identity-providers'], shop: ['orders', 'tasks'] },
  { shop: ['quotes'] },
  { common: ['approvals'] },
  { authorization: ['oauth'], shop: ['imports', 'order-exports', 'statistics', 'payments', 'shipments', 'webhooks'] },
  {
    common: ['config', 'metrics', 'problems'],
    authorization: ['access-management'],
    shop: ['order-imports', 'product-imports', 'refunds'],
  },
  { common: ['backup-files', 'console', 'docs', 'user-exports', 'user-imports'] },
  { common: ['first-run', 'mcp', 'schema'], shop: ['order-lifecycle'] },
  { common: ['backup', 'site'] },
  { common: ['app'] },
  { common: ['process'] },
  { common: ['command'] },
];

export const serverLayers: readonly (readonly string[])[] = layers.map(({ common = [], authorization = [], shop = [] }) => [
  ...common,
  ...authorization,
  ...shop,
]);
const shopFolders = layers.flatMap(({ shop = [] }) => shop);
const authorizationFolders = layers.flatMap(({ authorization = [] }) => authorization);

export const serverFolders: readonly string[] = serverLayers.flat();

/** Returns the folders of `server/` from which the files in `folder` must not import. */
export function listForbiddenFolders(folder: string): readonly string[] {
  const layer = serverLayers.findIndex((folders) => folders.includes(folder));
  const apart = shopFolders.includes(folder) ? authorizationFolders : authorizationFolders.includes(folder) ? shopFolders : [];
  const forbidden = new Set([...serverLayers.slice(layer).flat(), ...apart]);
  forbidden.delete(folder);
  return [...forbidden].toSorted();
}
