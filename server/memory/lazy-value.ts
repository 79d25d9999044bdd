/** Returns a getter that creates its value on the first call, so that rarely used values do not delay start-up. */
export function computeOnce<Value>(create: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined;
  return () => (cached ??= { value: create() }).value;
}
