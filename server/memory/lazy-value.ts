/** Returns a getter that creates its value on the first call, so that rarely used values do not delay start-up. */
export function createLazyGetter<Value>(create: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined;
  return () => (cached ??= { value: create() }).value;
}
