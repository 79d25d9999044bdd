import { type JsonValue, jsonPrimitiveToText } from '../../schema/json.ts';
import type { SampleCall } from './sample-call-and-shell-quoting.ts';

/** Returns a Python program that makes the call with the Requests library. */
export function createPythonSample(call: SampleCall): string {
  const { method, idempotent, resultKind } = call;
  return [
    ...(idempotent ? ['import uuid', ''] : []),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    ...argumentsOf(call).map((argument) => `    ${argument},`),
    ')',
    'response.raise_for_status()',
    ...(resultKind === 'json' ? ['print(response.json())'] : resultKind === 'file' ? ['print(response.text)'] : []),
  ].join('\n');
}

function argumentsOf(call: SampleCall): string[] {
  const { query, body, file } = call;
  const parameters = Object.entries(query).map(([name, value]): [string, JsonValue] => [name, queryValue(value)]);
  const headers = headersOf(call);
  return [
    urlOf(call),
    ...(parameters.length > 0 ? [`params=${literal(Object.fromEntries(parameters), 1)}`] : []),
    ...(headers.length > 0 ? [`headers={${headers.map((header) => `\n        ${header},`).join('')}\n    }`] : []),
    ...(body ? [`json=${literal(body.value, 1)}`] : []),
    ...(file ? [`data=open(${literal(file.name)}, "rb")`] : []),
  ];
}

const urlOf = ({ origin, path, pathValues }: SampleCall): string =>
  literal(origin + pathValues.reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path));

const headersOf = ({ needsToken, file, idempotent, requiresIfMatch }: SampleCall): string[] => [
  ...(needsToken ? ['"Authorization": "Bearer ACCESS_TOKEN"'] : []),
  ...(file ? [`"Content-Type": ${literal(file.mediaType)}`] : []),
  ...(idempotent ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
  ...(requiresIfMatch ? ['"If-Match": "*"'] : []),
];

/** The API expects comma-separated lists and lowercase booleans; Requests formats both differently. */
const queryValue = (value: JsonValue): JsonValue =>
  Array.isArray(value) ? value.map(jsonPrimitiveToText).join(',') : typeof value === 'boolean' ? String(value) : value;

/** Formats a value as a Python literal. */
function literal(value: JsonValue, depth = 0): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // The escape sequences that `JSON.stringify` writes are also valid in Python.
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = ' '.repeat((depth + 1) * 4);
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((item) => literal(item, depth + 1))]
    : ['{', '}', Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${literal(member, depth + 1)}`)];
  if (parts.length === 0) return open + close;
  const line = parts.join(', ');
  return line.length <= 60 && !line.includes('\n')
    ? open + line + close
    : `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${' '.repeat(depth * 4)}${close}`;
}
