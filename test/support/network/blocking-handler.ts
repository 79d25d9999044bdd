import type { RequestListener } from 'node:http';

/** Creates an HTTP handler that blocks every request until `open` is called. `entered` returns the number of requests received so far. */
export function createBlockingHandler(): { handler: RequestListener; entered: () => number; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let entered = 0;
  return {
    handler: (_req, res) => {
      entered += 1;
      void promise.then(() => res.end('done'));
    },
    entered: () => entered,
    open: resolve,
  };
}
