import type { CommandSpec, JsonSchemaSubset } from '../schema/command-spec-type.ts';

/**
 * Returns the schema of a request body. For an order without a quote, items and delivery are required. The contract's schema does not mark
 * these fields as required, because they are not allowed in an order with a quote.
 */
export function getBodySchemaWithRequiredOrderFields(
  { operationId, body: schema }: CommandSpec,
  body: Readonly<Record<string, unknown>>,
): JsonSchemaSubset | undefined {
  if (operationId !== 'orders.create' || !schema || body['quote_id'] !== undefined) return schema;
  return { ...schema, required: ['items', 'delivery'] };
}
