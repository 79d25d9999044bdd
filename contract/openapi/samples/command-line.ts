import { isJson, type Json, type JsonValue, textOf } from '../../schema/json.ts';
import { type SampleCall, shellWord } from './sample-call.ts';

/** Commands that are not called like their operation, because there is more to them than a request and an answer. */
const commandNames: Readonly<Record<string, string>> = {
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
};
/** What these need besides. */
const moreWords: Readonly<Record<string, readonly string[]>> = {
  'orderExports.create': ['--output orders.csv'],
  'tasks.result': ['--output result.csv'],
};

export function commandLineSample(call: SampleCall): string {
  const { operationId, pathValues, query, body, schemas, file, anyVersion } = call;
  const command = commandNames[operationId] ?? operationId.split('.').map(kebabCase).join(' ');
  const words = [
    ['mandate', command, ...pathValues.map(([, value]) => shellWord(textOf(value))), ...(file ? [file.name] : [])].join(' '),
    ...Object.entries(query).map(([name, value]) => `--${dashed(name)} ${shellWord(plain(value))}`),
    ...(body && isJson(body.value) ? flagsOf(body.value, body.schema, schemas, '') : []),
    ...(anyVersion ? [`--if-match '*'`] : []),
    ...(moreWords[operationId] ?? []),
  ];
  return words.join(words.join(' ').length > 80 ? ' \\\n  ' : ' ');
}

function flagsOf(value: Json, schema: Json, schemas: Json, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, part]) => {
    const property = schemaOf(isJson(schema['properties']) ? schema['properties'][name] : undefined, schemas);
    const flag = `--${prefix}${dashed(name)}`;
    if (isJson(part)) {
      if (isJson(property['properties'])) return flagsOf(part, property, schemas, `${prefix}${dashed(name)}.`);
      return Object.entries(part).map(([key, one]) => `${flag} ${shellWord(`${key}=${plain(one)}`)}`);
    }
    // a list of objects is one flag for each, called after one of them
    if (Array.isArray(part) && part.some(isJson))
      return part.filter(isJson).map((one) => `${flag.replace(/s$/, '')} ${shellWord(pairs(one))}`);
    return [`${flag} ${shellWord(plain(part))}`];
  });
}

const pairs = (value: Json): string =>
  Object.values(value).some((part) => typeof part === 'object' || (typeof part === 'string' && part.includes(',')))
    ? JSON.stringify(value)
    : Object.entries(value)
        .map(([name, part]) => `${name}=${plain(part)}`)
        .join(',');

const plain = (value: JsonValue): string =>
  isJson(value) ? JSON.stringify(value) : Array.isArray(value) ? value.map(plain).join(',') : value === null ? 'null' : textOf(value);

const dashed = (name: string): string => name.replaceAll('_', '-');
const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function schemaOf(schema: JsonValue | undefined, schemas: Json): Json {
  if (!isJson(schema)) return {};
  const target = typeof schema['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1) ?? ''] : undefined;
  return isJson(target) ? target : schema;
}
