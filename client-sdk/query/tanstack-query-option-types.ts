/** Options for `useQuery`, `fetchQuery` and similar functions of TanStack Query. */
export type QueryOf<Data> = {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Data>;
};

/** Options for `useInfiniteQuery`, which fetches pages on demand. */
export type InfiniteQueryOf<Page> = {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal; readonly pageParam: string | undefined }) => Promise<Page>;
  readonly initialPageParam: string | undefined;
  readonly getNextPageParam: (page: Page) => string | undefined;
};

/** Options for `useMutation`. */
export type MutationOf<Data, Variables> = {
  readonly mutationKey: readonly unknown[];
  readonly mutationFn: (variables: Variables) => Promise<Data>;
};
