import type { RequestListener } from 'node:http';

/** Handlers that wait until they are let go. */
export function gate(): { handler: RequestListener; entered: () => number; open: () => void } {
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

export async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise((resolve) => setImmediate(resolve));
}
