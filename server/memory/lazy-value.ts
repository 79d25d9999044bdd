/** Made when it is first asked for, and kept: what few need must not hold up the start of all. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
