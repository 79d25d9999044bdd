import express, { type Router } from 'express';

/** Returns the resource in a path, such as `orders` for `/api/v1/orders/7`. */
const resourceName = (path: string): string => path.split('/', 4)[3] ?? '';

const strictRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

/**
 * Creates a router with one sub-router per resource, so that a request is compared only with its own resource's paths. All paths begin with
 * `/api`, the version and the resource.
 */
export function createRouterWithSubrouterPerResource(): Router {
  const [router, resourceRouters] = [strictRouter(), new Map<string, Router>()];
  router.use((req, res, next) => {
    const resourceRouter = resourceRouters.get(resourceName(req.path));
    if (resourceRouter) resourceRouter(req, res, next);
    else next();
  });
  // `router.get()` and the other methods call `route()`
  router.route = (path: string) => {
    const resourceRouter = resourceRouters.get(resourceName(path)) ?? strictRouter();
    resourceRouters.set(resourceName(path), resourceRouter);
    return resourceRouter.route(path);
  };
  return router;
}
