import type { CommandSpec, Schema } from '../schema/command-spec-type.ts';

/**
 * Returns the schema of a request body. An order without a quote requires items and a delivery, which the contract's schema does not express,
 * because an order from a quote must not contain them.
 */
export function getBodySchemaWithRequiredOrderFields(
  { operationId, body: schema }: CommandSpec,
  body: Readonly<Record<string, unknown>>,
): Schema | undefined {
  if (operationId !== 'orders.create' || !schema || body['quote_id'] !== undefined) return schema;
  return { ...schema, required: ['items', 'delivery'] };
}
