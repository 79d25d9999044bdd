import type { Json, JsonValue } from '../../schema/json.ts';

/** One call of an operation, out of its examples, for the samples to show. */
export type SampleCall = {
  readonly origin: string;
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  /** In the order they have in the path. */
  readonly pathValues: readonly (readonly [name: string, value: string | number])[];
  readonly query: Readonly<Record<string, JsonValue>>;
  readonly hasQuery: boolean;
  readonly body?: { readonly value: JsonValue; readonly schema: Json };
  readonly file?: { readonly name: string; readonly mediaType: string };
  readonly schemas: Json;
  /** Whether it must say which version it means. */
  readonly anyVersion: boolean;
  readonly idempotent: boolean;
  readonly paginated: boolean;
  readonly needsToken: boolean;
  readonly gives: 'json' | 'file' | 'nothing';
};

/** A word of a shell command, in quotes where it needs them. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
