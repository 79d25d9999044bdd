import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager } from './entity-manager-type.ts';

type RequestEntityManager = { readonly root: EntityManager; em?: EntityManager };

const requests = new AsyncLocalStorage<RequestEntityManager>();

/** Runs `next` with a separate entity manager per request, so that requests do not see each other's entities. */
export const runWithRequestEntityManager = <Result>(root: EntityManager, next: () => Result): Result => requests.run({ root }, next);

/** Returns the current request's entity manager, if any. The entity manager is created on first use, because many requests need none. */
export function getRequestEntityManager(): EntityManager | undefined {
  const current = requests.getStore();
  // Leaves the request's context for this call, because `fork` would otherwise call this function again.
  if (current) current.em ??= requests.exit(() => current.root.fork({ useContext: true }));
  return current?.em;
}
