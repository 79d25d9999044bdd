import { extendApi } from '@anatine/zod-openapi';
import type { ZodTypeAny } from 'zod';

/** Key under which a schema's name is stored until the schema is moved to `components.schemas` in the OpenAPI document. */
export const schemaNameExtension = 'x-component';

/**
 * Names a schema in the OpenAPI document (`Order`, `OrderCreate`). Call this function last, because `.strict()` and `.extend()` drop the
 * name.
 */
export const withSchemaName = <Schema extends ZodTypeAny>(name: string, schema: Schema): Schema =>
  extendApi(schema, { [schemaNameExtension]: name });
