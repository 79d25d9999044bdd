import { describe, expect, test } from 'vitest';
import { orderExportColumns } from '@mandate/contract';
import { commandSpecs } from '../../cli/contract-commands/commands.gen.ts';
import { createOpenApiDocument } from '../../contract/openapi/openapi-document.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/schema/json.ts';

type Field = { readonly name: string; readonly deprecated: boolean; readonly description?: unknown };

/** Returns whether a name refers to a refunded amount, in any spelling: `refunded_amount`, `amountRefunded`, `refund_total_decimal`. */
const isRefundedAmount = (name: string): boolean =>
  /refund/i.test(name) && /amount|total|sum|value|refunded$/i.test(name) && !/status|reason|_at$|_id$/i.test(name);
const spelling = /^refunded_total(?:_decimal)?$/;

/** Returns all fields and parameters of an OpenAPI document. */
function fieldsOf(node: JsonValue): Field[] {
  if (Array.isArray(node)) return node.flatMap(fieldsOf);
  if (!isJsonObject(node)) return [];
  const properties = isJsonObject(node['properties']) ? Object.entries(node['properties']) : [];
  const parameter = typeof node['in'] === 'string' && typeof node['name'] === 'string' ? [node['name']] : [];
  return [
    ...parameter.map((name) => ({ name, deprecated: node['deprecated'] === true })),
    ...properties.map(([name, schema]) => ({
      name,
      deprecated: isJsonObject(schema) && schema['deprecated'] === true,
      description: isJsonObject(schema) && schema['description'],
    })),
    ...Object.values(node).flatMap(fieldsOf),
  ];
}

const misspelled = (fields: readonly Field[]): string[] =>
  fields.filter(({ name, deprecated }) => isRefundedAmount(name) && !deprecated && !spelling.test(name)).map(({ name }) => name);
const named = (names: readonly string[]): Field[] => names.map((name) => ({ name, deprecated: false }));

const documents = { v1: createOpenApiDocument('https://shop.example'), v2: createOpenApiDocument('https://shop.example', 'v2') };

describe('refunded amounts are named refunded_total', () => {
  test.each(Object.entries(documents))('in every body and parameter of %s, except deprecated fields', (_version, document) => {
    const fields = fieldsOf(document);
    expect(fields.filter(({ name }) => spelling.test(name)).length).toBeGreaterThan(1);
    expect(misspelled(fields)).toEqual([]);
  });

  test('in every column of an export', () => expect(misspelled(named(Object.values(orderExportColumns).flat()))).toEqual([]));

  test('in every flag of a command', () => {
    const flags = commandSpecs.flatMap(({ query, body }) => [query, body].flatMap((schema) => Object.keys(schema?.properties ?? {})));
    expect(flags.length).toBeGreaterThan(50);
    expect(misspelled(named(flags))).toEqual([]);
  });

  test.each(['refunded_amount', 'amount_refunded', 'refundedAmount', 'refund_total', 'total_refunded'])('%s is found', (name) => {
    const document: JsonObject = { components: { schemas: { Payment: { properties: { [name]: { type: 'integer' } } } } } };
    expect(misspelled(fieldsOf(document))).toEqual([name]);
  });

  test('a deprecated field names its replacement', () => {
    const deprecated = fieldsOf(documents.v1).filter((field) => field.deprecated && isRefundedAmount(field.name));
    expect(deprecated).toContainEqual(expect.objectContaining({ name: 'refunded_amount' }));
    for (const { description } of deprecated) expect(description).toContain('`refunded_total`');
  });
});
