/** What TanStack Query's `useQuery`, `fetchQuery` and their like take. */
export type QueryOf<Data> = {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Data>;
};

/** What `useInfiniteQuery` takes: page by page, each asked for when it is needed. */
export type InfiniteQueryOf<Page> = {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal; readonly pageParam: string | undefined }) => Promise<Page>;
  readonly initialPageParam: string | undefined;
  readonly getNextPageParam: (page: Page) => string | undefined;
};

/** What `useMutation` takes. */
export type MutationOf<Data, Variables> = {
  readonly mutationKey: readonly unknown[];
  readonly mutationFn: (variables: Variables) => Promise<Data>;
};
