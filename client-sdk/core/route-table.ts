/**
 * Operations by resource: the common prefix of the resource's paths and, for each operation, its method, the rest of its path and the
 * traits that the client needs, such as `POST/{}/cancellation json dry`. Every bundle contains the table, so the table does not repeat
 * names and paths: it has 3,200 characters instead of 5,000.
 */
export type RouteTable = Readonly<Record<string, readonly [path: string, operations: Readonly<Record<string, string>>]>>;

export type Route = ReturnType<typeof expandRouteTable>[number];

/** Returns the operations of a table. */
export const expandRouteTable = (table: RouteTable) =>
  Object.entries(table).flatMap(([resource, [basePath, operations]]) =>
    Object.entries(operations).map(([name, route]) => {
      const [target = '', ...traits] = route.split(' ');
      const [method = '', ...pathSegments] = target.split('/');
      return {
        resource,
        name,
        operation: `${resource}.${name}`,
        method,
        path: [basePath, ...pathSegments].join('/'),
        has: (trait: string): boolean => traits.includes(trait),
      };
    }),
  );

export type ScopeTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Returns the scopes of each operation. The table groups the operations of each resource by scope, because a table with one list of scopes
 * for each operation would be twice as long.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller has the type, which is generated with the table
export const expandScopeTable = <Scopes>(table: ScopeTable): Scopes =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table and the type are generated from the same document
  Object.fromEntries(
    Object.entries(table).flatMap(([resource, namesByScopes]) =>
      Object.entries(namesByScopes).flatMap(([scopes, names]) =>
        names.split(' ').map((name) => [`${resource}.${name}`, scopes ? scopes.split(' ') : []]),
      ),
    ),
  ) as Scopes;

export const countPathParameters = (path: string): number => path.split('{').length - 1;
