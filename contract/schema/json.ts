export type JsonValue = string | number | boolean | null | JsonValue[] | Json;
export type Json = { [key: string]: JsonValue };

/** Returns whether a result of `JSON.parse` is an object. */
export const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts a string, number or boolean to text. Returns an empty string for any other value. */
export const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
