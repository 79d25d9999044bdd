import { createServer } from 'node:http';
import { build } from 'esbuild';
import { closeServer, listenOnLoopback } from '../network/loopback-server.ts';

export type WebAppServer = AsyncDisposable & { readonly origin: string };

/** Starts a third-party website. `source` returns the script that the website's pages load. */
export async function startWebApp(source: (origin: string) => string, body = ''): Promise<WebAppServer> {
  const server = createServer((req, res) => {
    const isScript = req.url === '/app.js';
    res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    res.end(isScript ? code : `<!doctype html><title>Web application</title>${body}<script type="module" src="/app.js"></script>`);
  });
  const port = await listenOnLoopback(server);
  const origin = `http://localhost:${port}`;
  const stdin = { contents: source(origin), resolveDir: import.meta.dirname, loader: 'ts' } as const;
  const bundle = await build({ stdin, bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' });
  const code = bundle.outputFiles[0]?.text ?? '';
  return {
    origin,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
    },
  };
}
