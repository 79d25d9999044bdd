import { AsyncLocalStorage } from 'node:async_hooks';
import type { Em } from './entity-manager.ts';

type Own = { readonly root: Em; em?: Em };

const requests = new AsyncLocalStorage<Own>();

/** What is done in `next`, and whatever comes of it, has an entity manager of its own: what one request reads is not seen by another. */
export const withOwnEm = <Result>(root: Em, next: () => Result): Result => requests.run({ root }, next);

/** That entity manager, made when it is first needed: many a request asks nothing that needs one. Outside of requests there is none. */
export function ownEm(): Em | undefined {
  const own = requests.getStore();
  // while one is made it asks for the one there is
  if (own) own.em ??= requests.exit(() => own.root.fork({ useContext: true }));
  return own?.em;
}
