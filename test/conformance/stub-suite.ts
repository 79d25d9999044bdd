import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';

/**
 * A module of the stub suite. The module finishes after its URL has been visited and, with `needsScreenshot`, a screenshot has been
 * uploaded.
 */
export type StubModule = {
  readonly name: string;
  readonly result: string;
  readonly url?: string;
  readonly needsScreenshot?: boolean;
  /** Whether the module waits until its user has prepared the server. */
  readonly isManual?: boolean;
  readonly log?: readonly object[];
};

export type StubSuite = AsyncDisposable & {
  readonly url: string;
  readonly uploads: string[];
  /** Query and body of the request that created the plan. */
  readonly createdPlans: { readonly query: URLSearchParams; readonly body: unknown }[];
};

type StubRun = { readonly module: StubModule; isVisited: boolean; isUploaded: boolean; isContinued: boolean };

/** Starts a server with the parts of the suite's API that the runner uses. */
export async function startStubSuite(modules: readonly StubModule[]): Promise<StubSuite> {
  const runs: StubRun[] = [];
  const uploads: string[] = [];
  const createdPlans: StubSuite['createdPlans'][number][] = [];
  const respond = async (req: IncomingMessage): Promise<unknown> => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://localhost');
    const body = await text(req);
    if (pathname === '/api/server') return { version: '5.2.4', revision: '12f2a4d' };
    if (pathname === '/api/plan') {
      createdPlans.push({ query: searchParams, body: JSON.parse(body) });
      return { id: 'plan', modules: modules.map(({ name }) => ({ testModule: name, variant: { response_type: 'code' } })) };
    }
    if (pathname === '/api/runner') {
      const module = modules.find(({ name }) => name === searchParams.get('test'));
      return module && { id: String(runs.push({ module, isVisited: false, isUploaded: false, isContinued: false }) - 1) };
    }
    const run = runs[Number(/\/(\d+)(?:\/|$)/.exec(pathname)?.[1])];
    if (!run) return undefined;
    if (pathname.endsWith('/visit')) {
      run.isVisited = searchParams.get('url') === run.module.url;
      return null;
    }
    if (pathname.includes('/images/')) {
      uploads.push(`${pathname} ${body.slice(0, 22)}`);
      run.isUploaded = true;
      return {};
    }
    if (req.method === 'POST') {
      run.isContinued = true;
      return {};
    }
    return readRun(run, pathname);
  };
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const found = await respond(req);
    res.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    res.end(found === undefined || found === null ? '' : JSON.stringify(found));
  };
  const server = createServer((req, res) => void handle(req, res));
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, uploads, createdPlans, [Symbol.asyncDispose]: () => closeServer(server) };
}

function readRun({ module, isVisited, isUploaded, isContinued }: StubRun, pathname: string): unknown {
  const { url, needsScreenshot = false, isManual = false, result, log = [] } = module;
  if (pathname.startsWith('/api/log/')) return needsScreenshot ? [...log, { src: 'ExpectPage', msg: 'Upload it.', upload: 'shot' }] : log;
  if (pathname.startsWith('/api/runner/'))
    return { browser: { urlsWithMethod: url === undefined || isVisited ? [] : [{ url, method: 'GET' }] } };
  if (isManual && !isContinued) return { status: 'CONFIGURED', result: null };
  const isFinished = (url === undefined || isVisited) && (!needsScreenshot || isUploaded);
  return isFinished ? { status: 'FINISHED', result } : { status: 'WAITING', result: null };
}
