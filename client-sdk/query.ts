import type { Client } from './client/client.ts';
import type { InfiniteQueries, Mutations, Queries } from './generated/queries.gen.ts';
import { countPathParameters, expandRouteTable, type Route } from './core/route-table.ts';
import { routes } from './generated/routes.gen.ts';

export type { InfiniteQueries, Mutations, Queries } from './generated/queries.gen.ts';
export type { InfiniteQueryOf, MutationOf, QueryOf } from './query/tanstack-query-option-types.ts';

export type QueryOptions = {
  /** Options for reads: `useQuery(queries.orders.get(7))`. */
  readonly queries: Queries;
  /** Options for paginated reads: `useInfiniteQuery(infiniteQueries.orders.list({ status: ['paid'] }))`. */
  readonly infiniteQueries: InfiniteQueries;
  /** Options for writes: `useMutation(mutations.orders.create())`. */
  readonly mutations: Mutations;
  /** Returns the common prefix of all query keys of a resource: `queryClient.invalidateQueries({ queryKey: keyOf('orders') })`. */
  readonly keyOf: (resource: keyof Queries) => readonly unknown[];
};

/** Creates options for TanStack Query. The options work with every framework, because TanStack Query itself is not imported. */
export function queryOptions(client: Client): QueryOptions {
  const options: Record<'queries' | 'infiniteQueries' | 'mutations', Record<string, Record<string, Options>>> = {
    queries: {},
    infiniteQueries: {},
    mutations: {},
  };
  for (const route of expandRouteTable(routes)) {
    const { resource, name, has } = route;
    const call = callOf(client, resource, name);
    if (route.method !== 'GET') (options.mutations[resource] ??= {})[name] = mutationOf(route, call);
    else if (!has('download')) (options.queries[resource] ??= {})[name] = queryOf(route, call);
    if (has('paginated')) (options.infiniteQueries[resource] ??= {})[name] = infiniteQueryOf(route, call);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- routes and these types are generated from the same document
  return { ...options, keyOf: (resource: string) => [root, resource] } as unknown as QueryOptions;
}

const root = 'mandate';
type Options = (...args: unknown[]) => object;
type Call = (...args: unknown[]) => Promise<unknown>;

function callOf(client: Client, resource: string, name: string): Call {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every operation is a method of the client
  const resources = client as unknown as Record<string, Record<string, Call>>;
  return async (...args) => resources[resource]?.[name]?.(...args);
}

const keyOf = ({ resource, name }: Route, args: readonly unknown[]): unknown[] => [root, resource, name, ...args];

/** Pads the arguments with `undefined`, so that the options are at the position that the client expects. */
function padArguments({ path, has }: Route, args: readonly unknown[]): unknown[] {
  return Array.from({ length: countPathParameters(path) + (has('query') ? 1 : 0) }, (_, index) => args[index]);
}

const queryOf =
  (route: Route, call: Call): Options =>
  (...args) => ({
    queryKey: keyOf(route, args),
    queryFn: ({ signal }: { signal: AbortSignal }) => call(...padArguments(route, args), { signal }),
  });

const infiniteQueryOf =
  (route: Route, call: Call): Options =>
  (...args) => {
    const callArguments = padArguments(route, args);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the last argument is the query of a paginated operation
    const query = callArguments.pop() as object | undefined;
    return {
      queryKey: [...keyOf(route, args), 'pages'],
      queryFn: ({ signal, pageParam: cursor }: { signal: AbortSignal; pageParam: string | undefined }) =>
        call(...callArguments, cursor === undefined ? query : { ...query, cursor }, { signal }),
      initialPageParam: undefined,
      getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
    };
  };

const mutationOf =
  (route: Route, call: Call): Options =>
  (...args) => {
    const pathParameterCount = countPathParameters(route.path);
    const path = args.slice(0, pathParameterCount);
    const mutationFn = (variables: unknown) => call(...path, ...inputOf(route, variables), args[pathParameterCount]);
    return { mutationKey: keyOf(route, path), mutationFn };
  };

function inputOf({ has }: Route, variables: unknown): unknown[] {
  const hasBody = has('json') || has('file');
  if (!hasBody || !has('query')) return hasBody || has('query') ? [variables] : [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of these mutations require both
  const both = variables as { readonly body: unknown; readonly query: unknown };
  return [both.body, both.query];
}
