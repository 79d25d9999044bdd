import { isJsonObject, type JsonObject, type JsonValue, jsonPrimitiveToText } from '../../schema/json.ts';
import { type SampleCall, quoteShellWord } from './sample-call-and-shell-quoting.ts';

/** Commands whose names differ from the operation ID, because these commands do more than send one request. */
const commandNames: Readonly<Record<string, string>> = {
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
  'userExports.create': 'users export',
  'userImports.create': 'users import',
};
/** Additional arguments of commands that write files. */
const extraArguments: Readonly<Record<string, readonly string[]>> = {
  'orderExports.create': ['--output orders.csv'],
  'userExports.create': ['--output users.csv'],
  'tasks.result': ['--output result.csv'],
};

/** Returns the CLI command equivalent to a sample call. */
export function createCommandLineSample(call: SampleCall): string {
  const { operationId, pathValues, query, body, schemas, file, requiresIfMatch: anyVersion } = call;
  const command = commandNames[operationId] ?? operationId.split('.').map(kebabCase).join(' ');
  const words = [
    ['mandate', command, ...pathValues.map(([, value]) => quoteShellWord(jsonPrimitiveToText(value))), ...(file ? [file.name] : [])].join(
      ' ',
    ),
    ...Object.entries(query).map(([name, value]) => `--${dashed(name)} ${quoteShellWord(flagValue(value))}`),
    ...(body && isJsonObject(body.value) ? flagsOf(body.value, body.schema, schemas, '') : []),
    ...(anyVersion ? [`--if-match '*'`] : []),
    ...(extraArguments[operationId] ?? []),
  ];
  return words.join(words.join(' ').length > 80 ? ' \\\n  ' : ' ');
}

function flagsOf(value: JsonObject, schema: JsonObject, schemas: JsonObject, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, part]) => {
    const property = schemaOf(isJsonObject(schema['properties']) ? schema['properties'][name] : undefined, schemas);
    const flag = `--${prefix}${dashed(name)}`;
    if (isJsonObject(part)) {
      if (isJsonObject(property['properties'])) return flagsOf(part, property, schemas, `${prefix}${dashed(name)}.`);
      return Object.entries(part).map(([key, member]) => `${flag} ${quoteShellWord(`${key}=${flagValue(member)}`)}`);
    }
    // A list of objects becomes a flag that is repeated for each object. The flag name is the singular of the field name.
    if (Array.isArray(part) && part.some(isJsonObject))
      return part.filter(isJsonObject).map((item) => `${flag.replace(/s$/, '')} ${quoteShellWord(pairs(item))}`);
    return [`${flag} ${quoteShellWord(flagValue(part))}`];
  });
}

const pairs = (value: JsonObject): string =>
  Object.values(value).some((part) => typeof part === 'object' || (typeof part === 'string' && part.includes(',')))
    ? JSON.stringify(value)
    : Object.entries(value)
        .map(([name, part]) => `${name}=${flagValue(part)}`)
        .join(',');

const flagValue = (value: JsonValue): string =>
  isJsonObject(value)
    ? JSON.stringify(value)
    : Array.isArray(value)
      ? value.map(flagValue).join(',')
      : value === null
        ? 'null'
        : jsonPrimitiveToText(value);

const dashed = (name: string): string => name.replaceAll('_', '-');
const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function schemaOf(schema: JsonValue | undefined, schemas: JsonObject): JsonObject {
  if (!isJsonObject(schema)) return {};
  const target = typeof schema['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1) ?? ''] : undefined;
  return isJsonObject(target) ? target : schema;
}
