import { serve } from '@hono/node-server';
import { createBff, type BffConfig } from './app.ts';

/** Starts the application. Returns a function that stops it. */
export function startBff(port: number, config: BffConfig): Promise<() => Promise<void>> {
  const { fetch } = createBff(config);
  return new Promise((resolve) => {
    const server = serve({ fetch, port, hostname: '127.0.0.1' }, () => resolve(stop));
    const stop = (): Promise<void> => new Promise((stopped) => void server.close(() => stopped()));
  });
}
