import { once } from 'node:events';
import { createServer } from 'node:http';
import { build } from 'esbuild';

export type WebAppServer = AsyncDisposable & { readonly origin: string };

/** Starts a third-party website. `source` returns the script that its pages load. */
export async function startWebApp(source: (origin: string) => string, body = ''): Promise<WebAppServer> {
  const server = createServer((req, res) => {
    const isScript = req.url === '/app.js';
    res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    res.end(isScript ? code : `<!doctype html><title>Web application</title>${body}<script type="module" src="/app.js"></script>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const origin = `http://localhost:${address.port}`;
  const stdin = { contents: source(origin), resolveDir: import.meta.dirname, loader: 'ts' } as const;
  const bundle = await build({ stdin, bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' });
  const code = bundle.outputFiles[0]?.text ?? '';
  return {
    origin,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
