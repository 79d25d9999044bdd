import { describe, expect, test } from 'vitest';
import { handwrittenCommandNamesByOperation } from '../../../cli/contract-commands/handwritten-command-names.ts';
import { commandSpecs } from '../../../cli/contract-commands/commands.gen.ts';
import { getBodySchemaWithRequiredOrderFields } from '../../../cli/contract-commands/get-body-schema-with-required-order-fields.ts';
import type { CommandSpec, JsonSchemaSubset } from '../../../cli/schema/command-spec-type.ts';
import { createProblemResponse, startStubServer } from '../../sdk/stub-server.ts';
import { createConfigDirectory, runInProcess } from '../run-command-line.ts';

/** Returns an example value that conforms to the schema. */
function example(schema: JsonSchemaSubset): unknown {
  const { type, enum: choices, minimum = 1, items, minItems = 1, properties, required = [], format, pattern, minLength = 1 } = schema;
  if (choices) return choices[0];
  if (type.includes('integer') || type.includes('number')) return Math.max(minimum, 1);
  if (type.includes('boolean')) return true;
  if (type.includes('array')) return items ? Array.from({ length: Math.max(minItems, 1) }, () => example(items)) : [];
  if (type.includes('object'))
    return Object.fromEntries(required.flatMap((name) => (properties?.[name] ? [[name, example(properties[name])]] : [])));
  if (format === 'date-time') return '2026-11-20T12:00:00.000Z';
  if (format === 'uri') return 'https://shop.example/back';
  const texts = [
    'GB',
    'EUR',
    'ann@example.com',
    'https://shop.example/back',
    'orders.read',
    'order.paid',
    'a1',
    'evt_1',
    'text that is long enough to do',
  ];
  return (
    texts.find((text) => text.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(text))) ??
    'x'.repeat(minLength)
  );
}

const argvOf = (spec: CommandSpec): string[] => [
  spec.group,
  spec.name,
  ...spec.pathParameters.map(({ schema }) => String(example(schema))),
  ...(spec.body ? ['--input', '-'] : []),
];

const generatedSpecs = commandSpecs.filter(({ operationId }) => !(operationId in handwrittenCommandNamesByOperation));
const responseBody = { id: 1, name: '\u001b[31m木', data: [{ id: 1, status: 'new status' }], has_more: false, next_cursor: null };

describe.each(generatedSpecs.map((spec) => [`mandate ${spec.group} ${spec.name}`, spec] as const))('%s', (_, spec) => {
  const bodySchema = getBodySchemaWithRequiredOrderFields(spec, {});
  const body = bodySchema && JSON.stringify(example(bodySchema));

  test('prints the unchanged response body as one document with --json', async () => {
    await using server = await startStubServer(() => ({
      body: responseBody,
      headers: { deprecation: '@1767225600', sunset: 'Thu, 01 Jul 2027 00:00:00 GMT' },
    }));
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret', MANDATE_CONFIG_DIR: home.path, CI: '1' };
    const yes = (await runInProcess([spec.group, spec.name, '--help'])).stdout.includes('--yes') ? ['-y'] : [];
    const ifMatch = spec.ifMatch ? ['--if-match', '*'] : [];
    const outcome = await runInProcess([...argvOf(spec), ...yes, ...ifMatch, '--json'], { env, stdin: body ?? '' });
    expect(outcome.stderr).not.toContain('error:');
    expect({ exitCode: outcome.exitCode, body: JSON.parse(outcome.stdout) }).toEqual({ exitCode: 0, body: responseBody });
    expect(outcome.stdout.trimEnd()).not.toContain('\n');
    expect(server.seen.at(-1)).toMatchObject({ method: spec.method, ...(body !== undefined && { body }) });
  });

  test('prints an error as one line of JSON to standard error and nothing to standard output', async () => {
    await using server = await startStubServer(() => createProblemResponse(409, 'conflict_of_some_kind'));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const yes = (await runInProcess([spec.group, spec.name, '--help'])).stdout.includes('--yes') ? ['-y'] : [];
    const { exitCode, stdout, stderr } = await runInProcess([...argvOf(spec), ...yes, '--json'], { env, stdin: body ?? '' });
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'conflict_of_some_kind', status: 409, exitCode: 7 } });
  });
});
