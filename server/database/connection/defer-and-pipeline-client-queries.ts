import type { ClientBase } from 'pg';
import { deferBeginAndDeferredWrites, type DeferOptions } from './defer-begin-and-deferred-writes.ts';
import { createPipelinedStatementSender, type MessageObserver } from './create-pipelined-statement-sender.ts';

/**
 * Replaces `client.query` with a function that sends every statement from MikroORM or Kysely, possibly after a delay, and reports the
 * statement to `observers`. No other code replaces `client.query`.
 */
export function deferAndPipelineClientQueries(
  client: ClientBase,
  options: DeferOptions & { readonly observers: readonly MessageObserver[] },
): void {
  const query = deferBeginAndDeferredWrites(createPipelinedStatementSender(client, options.observers), options);
  Object.defineProperty(client, 'query', { value: query, configurable: true });
}
