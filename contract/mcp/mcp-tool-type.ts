import type { JsonObject } from '../schema/json.ts';

/** Tool arguments that are sent as the headers `If-Match` and `Idempotency-Key`. */
export const ifMatchToolArgumentName = 'if_match';
export const idempotencyKeyToolArgumentName = 'idempotency_key';

/** An API operation as a Model Context Protocol tool, with the details needed to turn a tool call into an HTTP request. */
export type McpTool = {
  /** Tool name, such as `orders_create`. */
  readonly name: string;
  /** Name of the set of tools for one resource, such as `orders`. An assistant's settings select tools by set. */
  readonly toolSet: string;
  readonly title: string;
  readonly description: string;
  readonly method: string;
  readonly path: string;
  /** Arguments sent as path parameters. Arguments that are neither path nor query parameters form the body. */
  readonly pathArguments: readonly string[];
  readonly queryArguments: readonly string[];
  readonly hasBody: boolean;
  /** Any one of these scopes is sufficient. An empty list means that no token is needed. */
  readonly scopes: readonly string[];
  readonly readOnly: boolean;
  /** Whether the tool deletes or changes data, or spends or moves money. */
  readonly destructive: boolean;
  /** Whether repeating a call with the same arguments has no further effect. */
  readonly idempotent: boolean;
  /** Whether the operation accepts an `Idempotency-Key`. */
  readonly keyed: boolean;
  /** Whether the operation accepts `If-Match`. */
  readonly conditional: boolean;
  /** Present if the operation starts a task and responds before the task has finished. `tasks.get` returns the state of the task. */
  readonly startsTask?: true;
  readonly inputSchema: JsonObject;
  /**
   * Names and types of the result fields. For a tool that moves money, only the fields that show the outcome are included. Undefined for
   * other tools that change data, and for results that are not objects.
   */
  readonly outputSchema?: JsonObject;
};
