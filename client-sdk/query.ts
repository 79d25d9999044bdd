import type { Client } from './client/client.ts';
import type { InfiniteQueries, Mutations, Queries } from './generated/queries.gen.ts';
import { routes } from './generated/routes.gen.ts';

export type { InfiniteQueries, Mutations, Queries } from './generated/queries.gen.ts';
export type { InfiniteQueryOf, MutationOf, QueryOf } from './query/query-types.ts';

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
  for (const [operation, route] of Object.entries(routes)) {
    const [resource = '', name = ''] = operation.split('.');
    const call = callOf(client, resource, name);
    const traits = traitsOf(route);
    if (!traits.reads) (options.mutations[resource] ??= {})[name] = mutationOf(operation, traits, call);
    else if (!traits.download) (options.queries[resource] ??= {})[name] = queryOf(operation, traits, call);
    if (traits.paginated) (options.infiniteQueries[resource] ??= {})[name] = infiniteQueryOf(operation, traits, call);
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

type Traits = ReturnType<typeof traitsOf>;
function traitsOf(route: string) {
  const [method, path = '', ...traits] = route.split(' ');
  const has = (trait: string): boolean => traits.includes(trait);
  return {
    reads: method === 'GET',
    download: has('download'),
    paginated: has('paginated'),
    query: has('query'),
    body: has('json') || has('file'),
    pathParameterCount: path.split('{').length - 1,
  };
}

const keyOf = (operation: string, args: readonly unknown[]): unknown[] => [root, ...operation.split('.'), ...args];

/** Pads the arguments with `undefined`, so that the options are in the position that the client expects. */
function padArguments({ pathParameterCount, query }: Traits, args: readonly unknown[]): unknown[] {
  return Array.from({ length: pathParameterCount + (query ? 1 : 0) }, (_, index) => args[index]);
}

const queryOf =
  (operation: string, traits: Traits, call: Call): Options =>
  (...args) => ({
    queryKey: keyOf(operation, args),
    queryFn: ({ signal }: { signal: AbortSignal }) => call(...padArguments(traits, args), { signal }),
  });

const infiniteQueryOf =
  (operation: string, traits: Traits, call: Call): Options =>
  (...args) => {
    const callArguments = padArguments(traits, args);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the last argument is the query of a paginated operation
    const query = callArguments.pop() as object | undefined;
    return {
      queryKey: [...keyOf(operation, args), 'pages'],
      queryFn: ({ signal, pageParam: cursor }: { signal: AbortSignal; pageParam: string | undefined }) =>
        call(...callArguments, cursor === undefined ? query : { ...query, cursor }, { signal }),
      initialPageParam: undefined,
      getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
    };
  };

const mutationOf =
  (operation: string, traits: Traits, call: Call): Options =>
  (...args) => {
    const { pathParameterCount } = traits;
    const path = args.slice(0, pathParameterCount);
    const mutationFn = (variables: unknown) => call(...path, ...inputOf(traits, variables), args[pathParameterCount]);
    return { mutationKey: keyOf(operation, path), mutationFn };
  };

function inputOf({ body, query }: Traits, variables: unknown): unknown[] {
  if (!body || !query) return body || query ? [variables] : [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of these mutations require both
  const both = variables as { readonly body: unknown; readonly query: unknown };
  return [both.body, both.query];
}
