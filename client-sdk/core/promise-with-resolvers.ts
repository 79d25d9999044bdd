/** Replacement for `Promise.withResolvers`, which Node 20 does not support. */
export function createPromiseWithResolvers<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...functions) => {
    [resolve, reject] = functions;
  });
  return { promise, resolve, reject };
}
