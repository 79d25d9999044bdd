import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { singleLineInputSchema, singleLineResponseSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { deliveryMethodCodeSchema } from './delivery-methods.ts';

const country = z.string().regex(/^[A-Z]{2}$/, 'must be a two-letter ISO 3166-1 code such as DE');

const deliveryFields = (oneLine: typeof singleLineInputSchema | typeof singleLineResponseSchema) => ({
  method: deliveryMethodCodeSchema.describe('Code of the delivery method.'),
  recipient_name: oneLine(200),
  phone: oneLine(32).optional(),
  line1: oneLine(200).optional().describe('Street and number. Required if the delivery method requires an address.'),
  line2: oneLine(200).optional(),
  city: oneLine(100).optional().describe('City. Required if the delivery method requires an address.'),
  region: oneLine(100).optional(),
  postal_code: oneLine(20).optional(),
  country: country.optional().describe('ISO 3166-1 alpha-2 country code. Required if the delivery method requires an address.'),
});

export const orderDeliveryInputSchema = withSchemaName('DeliveryInput', z.object(deliveryFields(singleLineInputSchema)).strict());
export const orderDeliverySchema = withSchemaName('Delivery', z.object(deliveryFields(singleLineResponseSchema)));
