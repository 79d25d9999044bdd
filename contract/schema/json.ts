export type JsonValue = string | number | boolean | null | JsonValue[] | Json;
export type Json = { [key: string]: JsonValue };

/** Of what `JSON.parse` gave. */
export const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text, number or boolean as text; anything else has none. */
export const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
