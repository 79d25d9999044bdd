import type { JsonObject, JsonValue } from '../../schema/json.ts';

/** An example call of an operation, from which the code samples are generated. */
export type SampleCall = {
  readonly origin: string;
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  /** Path parameters, in the same order as in the path. */
  readonly pathValues: readonly (readonly [name: string, value: string | number])[];
  readonly query: Readonly<Record<string, JsonValue>>;
  readonly hasQuery: boolean;
  readonly body?: { readonly value: JsonValue; readonly schema: JsonObject };
  readonly file?: { readonly name: string; readonly mediaType: string };
  readonly schemas: JsonObject;
  /** Whether the operation requires `If-Match`, in which case the samples send `*`. */
  readonly requiresIfMatch: boolean;
  readonly idempotent: boolean;
  readonly paginated: boolean;
  readonly needsToken: boolean;
  readonly resultKind: 'json' | 'file' | 'nothing';
};

/** Quotes a word in a shell command if necessary. */
export const quoteShellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
