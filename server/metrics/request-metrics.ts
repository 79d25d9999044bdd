import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import { oauthEndpointPaths } from '../oauth/protocol/endpoint-paths-and-audiences.ts';

/** Express and ts-rest store the matched route on the request. */
type RoutedMessage = IncomingMessage & {
  readonly originalUrl?: string;
  readonly tsRestRoute?: { readonly path: string };
  readonly route?: { readonly path: unknown };
};

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Paths that have no Express route, because oidc-provider serves them. */
const protocolPaths = new Set<string>([
  ...Object.values(oauthEndpointPaths),
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
]);

/**
 * Counts all requests except health checks. Requests are labeled by route rather than by URL, because URLs would create an unlimited number
 * of time series.
 */
export function registerRequestMetrics(registry: Registry, base: string): (req: IncomingMessage, res: ServerResponse) => void {
  const requests = new Counter({
    name: 'mandate_http_requests_total',
    help: 'Completed requests by method, contract route and status; the status is "aborted" if the client disconnected before the response.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'mandate_http_request_duration_seconds',
    help: 'Time from the request headers to the end of the response.',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return (req, res) => {
    if (req.url === '/healthz' || req.url === '/readyz') return;
    const startedAt = performance.now();
    res.once('close', () => {
      const method = methods.has(req.method ?? '') ? (req.method ?? '') : 'other';
      const route = routeLabel(req, base);
      requests.inc({ method, route, status: res.writableFinished ? String(res.statusCode) : 'aborted' });
      duration.observe({ method, route }, (performance.now() - startedAt) / 1000);
    });
  };
}

function routeLabel(req: RoutedMessage, base: string): string {
  if (req.tsRestRoute) return req.tsRestRoute.path;
  const path = (req.originalUrl ?? req.url ?? '').slice(base.length).split('?', 1)[0] ?? '';
  if (protocolPaths.has(path)) return path;
  const route = req.route?.path;
  const firstPath: unknown = Array.isArray(route) ? route[0] : route;
  return typeof firstPath === 'string' ? firstPath : 'none';
}
