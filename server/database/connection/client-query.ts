import type { ClientBase } from 'pg';
import { deferTransactionStatements, type DeferOptions } from './deferred-statements.ts';
import { createMessageSender, type MessageObserver } from './pipelined-queries.ts';

/**
 * Replaces `client.query`. Only this function does so: every statement of the ORM and of Kysely arrives here, may be deferred, is sent, and
 * is reported to `observers`.
 */
export function replaceClientQuery(client: ClientBase, options: DeferOptions & { readonly observers: readonly MessageObserver[] }): void {
  const query = deferTransactionStatements(createMessageSender(client, options.observers), options);
  Object.defineProperty(client, 'query', { value: query, configurable: true });
}
