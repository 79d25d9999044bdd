import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import { endpoints } from '../oauth/protocol/endpoints.ts';

/** Express and ts-rest leave behind on a request what it has met. */
type Routed = IncomingMessage & {
  readonly originalUrl?: string;
  readonly tsRestRoute?: { readonly path: string };
  readonly route?: { readonly path: unknown };
};

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** What has no route of Express: the protocol's endpoints are the library's own. */
const fixedPaths = new Set<string>([
  ...Object.values(endpoints),
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
]);

/** Counts every request but those of whoever watches the process, under the route it has met: what callers write into a URL makes no new series. */
export function requestMetrics(registry: Registry, base: string): (req: IncomingMessage, res: ServerResponse) => void {
  const requests = new Counter({
    name: 'mandate_http_requests_total',
    help: 'Requests that are over, by method, route of the contract, and status; "aborted" when the caller left before the answer.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'mandate_http_request_duration_seconds',
    help: 'From the headers of the request to the end of the answer.',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return (req, res) => {
    if (req.url === '/healthz' || req.url === '/readyz') return;
    const begun = performance.now();
    res.once('close', () => {
      const method = methods.has(req.method ?? '') ? (req.method ?? '') : 'other';
      const route = routeOf(req, base);
      requests.inc({ method, route, status: res.writableFinished ? String(res.statusCode) : 'aborted' });
      duration.observe({ method, route }, (performance.now() - begun) / 1000);
    });
  };
}

function routeOf(req: Routed, base: string): string {
  if (req.tsRestRoute) return req.tsRestRoute.path;
  const path = (req.originalUrl ?? req.url ?? '').slice(base.length).split('?', 1)[0] ?? '';
  if (fixedPaths.has(path)) return path;
  const route = req.route?.path;
  const first: unknown = Array.isArray(route) ? route[0] : route;
  return typeof first === 'string' ? first : 'none';
}
