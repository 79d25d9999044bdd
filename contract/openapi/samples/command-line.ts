import { isJson, type Json, type JsonValue, textOf } from '../../schema/json.ts';
import { type SampleCall, shellWord } from './sample-call.ts';

/** Commands whose name differs from the operation ID, because they do more than send one request. */
const commandNames: Readonly<Record<string, string>> = {
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
};
/** Additional arguments of commands that write files. */
const extraArguments: Readonly<Record<string, readonly string[]>> = {
  'orderExports.create': ['--output orders.csv'],
  'tasks.result': ['--output result.csv'],
};

/** Returns the CLI command of a call. */
export function commandLineSample(call: SampleCall): string {
  const { operationId, pathValues, query, body, schemas, file, anyVersion } = call;
  const command = commandNames[operationId] ?? operationId.split('.').map(kebabCase).join(' ');
  const words = [
    ['mandate', command, ...pathValues.map(([, value]) => shellWord(textOf(value))), ...(file ? [file.name] : [])].join(' '),
    ...Object.entries(query).map(([name, value]) => `--${dashed(name)} ${shellWord(flagValue(value))}`),
    ...(body && isJson(body.value) ? flagsOf(body.value, body.schema, schemas, '') : []),
    ...(anyVersion ? [`--if-match '*'`] : []),
    ...(extraArguments[operationId] ?? []),
  ];
  return words.join(words.join(' ').length > 80 ? ' \\\n  ' : ' ');
}

function flagsOf(value: Json, schema: Json, schemas: Json, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, part]) => {
    const property = schemaOf(isJson(schema['properties']) ? schema['properties'][name] : undefined, schemas);
    const flag = `--${prefix}${dashed(name)}`;
    if (isJson(part)) {
      if (isJson(property['properties'])) return flagsOf(part, property, schemas, `${prefix}${dashed(name)}.`);
      return Object.entries(part).map(([key, member]) => `${flag} ${shellWord(`${key}=${flagValue(member)}`)}`);
    }
    // A list of objects becomes one flag for each object, with the name in the singular.
    if (Array.isArray(part) && part.some(isJson))
      return part.filter(isJson).map((item) => `${flag.replace(/s$/, '')} ${shellWord(pairs(item))}`);
    return [`${flag} ${shellWord(flagValue(part))}`];
  });
}

const pairs = (value: Json): string =>
  Object.values(value).some((part) => typeof part === 'object' || (typeof part === 'string' && part.includes(',')))
    ? JSON.stringify(value)
    : Object.entries(value)
        .map(([name, part]) => `${name}=${flagValue(part)}`)
        .join(',');

const flagValue = (value: JsonValue): string =>
  isJson(value) ? JSON.stringify(value) : Array.isArray(value) ? value.map(flagValue).join(',') : value === null ? 'null' : textOf(value);

const dashed = (name: string): string => name.replaceAll('_', '-');
const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function schemaOf(schema: JsonValue | undefined, schemas: Json): Json {
  if (!isJson(schema)) return {};
  const target = typeof schema['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1) ?? ''] : undefined;
  return isJson(target) ? target : schema;
}
