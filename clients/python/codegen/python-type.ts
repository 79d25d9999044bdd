import { toPythonString } from './python-names.ts';

/** The parts of a JSON Schema that the generator reads. */
export type JsonSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly not?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly description?: string;
};

/**
 * Represents any value that this version of the client does not know, such as an event type that a newer service has added. No response
 * contains this placeholder. A type checker can exclude this literal type when code compares a value with a known value, whereas it could
 * not exclude `str`.
 */
const newerValuePlaceholder = '(a value of a newer service)';

/** Returns the alternatives of a schema, or `undefined` if it has none. */
export const alternativesOf = ({ oneOf, anyOf }: JsonSchema): readonly JsonSchema[] | undefined => oneOf ?? anyOf;

export const typeNamesOf = ({ type }: JsonSchema): readonly string[] => (typeof type === 'string' ? [type] : (type ?? []));

/** Returns whether the schema is an object with known fields, which becomes a class. */
export const hasFields = (schema: JsonSchema): schema is JsonSchema & Required<Pick<JsonSchema, 'properties'>> =>
  schema.properties !== undefined;

export const referencedName = (reference: string): string => reference.split('/').at(-1) ?? '';

/**
 * Returns the Python type of a schema. `nameFields` returns the class name for an unnamed object with fields. `isNullable` returns whether
 * a named schema permits `null`.
 */
export function renderPythonType(
  schema: JsonSchema,
  nameFields: (schema: JsonSchema) => string,
  isNullable: (name: string) => boolean,
): string {
  const render = (part: JsonSchema): string => renderPythonType(part, nameFields, isNullable);
  if (schema.$ref !== undefined) {
    const name = referencedName(schema.$ref);
    return isNullable(name) ? `${name} | None` : name;
  }
  const alternatives = alternativesOf(schema);
  if (alternatives) return alternatives.map(render).join(' | ');
  if (schema.enum) return `Literal[${schema.enum.map((value) => renderLiteral(value)).join(', ')}]`;
  if (schema.not?.enum) return `Literal[${toPythonString(newerValuePlaceholder)}]`;
  const types = typeNamesOf(schema).map((type) => {
    if (type === 'object') return hasFields(schema) ? nameFields(schema) : renderDictionary(schema, render);
    return type === 'array' ? `list[${schema.items ? render(schema.items) : 'Any'}]` : renderPrimitive(type);
  });
  return types.length === 0 ? 'Any' : types.join(' | ');
}

const renderLiteral = (value: string | number | boolean | null): string =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

function renderDictionary({ additionalProperties }: JsonSchema, render: (schema: JsonSchema) => string): string {
  const values = typeof additionalProperties === 'object' ? render(additionalProperties) : 'Any';
  return `dict[str, ${values}]`;
}

function renderPrimitive(type: string): string {
  const name = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type];
  if (name === undefined) throw new Error(`the type ${type} has no Python type`);
  return name;
}
