import { type JsonValue, jsonPrimitiveToText } from '../../schema/json.ts';
import type { SampleCall } from './sample-call-and-shell-quoting.ts';

/** Returns a TypeScript module that makes the call with the SDK. The module compiles without changes. */
export function createTypeScriptSample(call: SampleCall): string {
  const { origin, needsToken, file } = call;
  return [
    ...(file ? [`import { openAsBlob } from 'node:fs';`] : []),
    `import { createClient } from '@mandate/client-sdk';`,
    '',
    `const mandate = createClient({ baseUrl: ${literal(origin)}${needsToken ? `, auth: 'ACCESS_TOKEN'` : ''} });`,
    '',
    statement(call),
  ].join('\n');
}

function statement(call: SampleCall): string {
  const expression = `mandate.${call.operationId}(${argumentsOf(call).join(', ')})`;
  if (call.paginated) return `for await (const item of ${expression}) {\n  console.log(item);\n}`;
  if (call.resultKind === 'nothing') return `await ${expression};`;
  if (call.resultKind === 'file') return `const file = await ${expression};\nconsole.log(await new Response(file.stream).text());`;
  return `const result = await ${expression};\nconsole.log(result);`;
}

function argumentsOf({ pathValues, body, file, query, requiresIfMatch: anyVersion }: SampleCall): string[] {
  return [
    ...pathValues.map(([, value]) => literal(value)),
    ...(body ? [literal(body.value)] : []),
    ...(file ? [`await openAsBlob(${literal(file.name)}, { type: ${literal(file.mediaType)} })`] : []),
    ...(Object.keys(query).length > 0 ? [literal({ ...query })] : []),
    ...(anyVersion ? [`{ ifMatch: '*' }`] : []),
  ];
}

/** Formats a value as a TypeScript literal. */
function literal(value: JsonValue, indent = ''): string {
  if (typeof value === 'string')
    return `'${value
      .replaceAll('\\', '\\\\')
      .replaceAll("'", String.raw`\'`)
      .replaceAll('\n', String.raw`\n`)}'`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : jsonPrimitiveToText(value);
  const inner = `${indent}  `;
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((item) => literal(item, inner))]
    : ['{', '}', Object.entries(value).map(([name, member]) => `${name}: ${literal(member, inner)}`)];
  if (parts.length === 0) return open + close;
  const line = parts.join(', ');
  const space = open === '{' ? ' ' : '';
  return line.length <= 70 && !line.includes('\n')
    ? `${open}${space}${line}${space}${close}`
    : `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
