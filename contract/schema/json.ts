export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/** Returns whether a `JSON.parse` result is an object. */
export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns an object with the same keys and changed values. If `node` is not an object, returns an empty object. */
export const mapJsonObjectValues = (node: JsonValue | undefined, change: (value: JsonValue, key: string) => JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(isJsonObject(node) ? node : {}).map(([key, value]) => [key, change(value, key)]));

/** Converts a string, number or boolean to text. Returns an empty string for any other value. */
export const jsonPrimitiveToText = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
