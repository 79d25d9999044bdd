import { isJsonObject, type JsonObject, type JsonValue } from '../schema/json.ts';

/**
 * Schema keywords to omit. Without these keywords, the schemas are about a quarter shorter and use less of an assistant's context. The API
 * still enforces the constraints, and its error messages explain them.
 */
const keywordsCheckedByApi: ReadonlySet<string> = new Set([
  'pattern',
  'format',
  'default',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minProperties',
  'maxProperties',
  'propertyNames',
]);

/** Returns a schema with only the names, types, allowed values and descriptions of the arguments. The API enforces the other constraints. */
export function copySchemaWithoutConstraints(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] =>
      keywordsCheckedByApi.has(keyword) ? [] : [[keyword, compactKeyword(keyword, value)]],
    ),
  );
}

function compactKeyword(keyword: string, value: JsonValue): JsonValue {
  if (keyword === 'type' && Array.isArray(value) && value.length === 1) return value[0] ?? value;
  if (keyword === 'properties' && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, compactValue(one)]));
  return keyword === 'enum' || keyword === 'required' ? value : compactValue(value);
}

function compactValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(compactValue);
  return isJsonObject(value) ? copySchemaWithoutConstraints(value) : value;
}

/** Fields that show the outcome of a call. */
const outcomeField = /^(?:id|order_id|status|payment_status|total|amount|currency)$/;

/**
 * Returns a schema with only the fields that show the outcome of a change, because the full schema would use more of the assistant's
 * context.
 */
export function selectOutcomeFieldsOfSchema({ properties }: JsonObject): JsonObject {
  const fields = Object.entries(isJsonObject(properties) ? properties : {});
  return reduceSchemaToFieldTypes({ properties: Object.fromEntries(fields.filter(([name]) => outcomeField.test(name))) });
}

/** Returns a schema with the names and types of an object's fields, without the fields of nested objects. */
export function reduceSchemaToFieldTypes({ properties }: JsonObject): JsonObject {
  const fields = Object.entries(isJsonObject(properties) ? properties : {});
  return { type: 'object', properties: Object.fromEntries(fields.map(([name, field]) => [name, typeOnly(field)])) };
}

function typeOnly(field: JsonValue): JsonObject {
  const type = isJsonObject(field) ? field['type'] : undefined;
  return type === undefined ? {} : { type: Array.isArray(type) && type.length === 1 ? (type[0] ?? type) : type };
}
