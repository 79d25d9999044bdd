import type { ClientBase } from 'pg';
import { deferBeginAndDeferredWrites, type DeferOptions } from './defer-begin-and-deferred-writes.ts';
import { createPipelinedStatementSender, type MessageObserver } from './pipelined-queries.ts';

/**
 * Replaces `client.query`. Every statement from MikroORM or Kysely passes through this replacement, which sends it, possibly
 * deferred, and reports it to `observers`. No other code replaces `client.query`.
 */
export function deferAndPipelineClientQueries(
  client: ClientBase,
  options: DeferOptions & { readonly observers: readonly MessageObserver[] },
): void {
  const query = deferBeginAndDeferredWrites(createPipelinedStatementSender(client, options.observers), options);
  Object.defineProperty(client, 'query', { value: query, configurable: true });
}
