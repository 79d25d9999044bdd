import express, { type Router } from 'express';

/** `/api/v1/orders/7` belongs to `orders`. */
const resourceOf = (path: string): string => path.split('/', 4)[3] ?? '';

const strictRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

/**
 * A router whose routes are kept apart by resource: a request is compared with the paths of its own, however many others there
 * are. Their paths begin with `/api`, the version and the resource.
 */
export function routesByResource(): Router {
  const [router, resources] = [strictRouter(), new Map<string, Router>()];
  router.use((req, res, next) => {
    const resource = resources.get(resourceOf(req.path));
    if (resource) resource(req, res, next);
    else next();
  });
  // `router.get()` and its like make their route by this
  router.route = (path: string) => {
    const resource = resources.get(resourceOf(path)) ?? strictRouter();
    resources.set(resourceOf(path), resource);
    return resource.route(path);
  };
  return router;
}
