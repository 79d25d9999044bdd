import { extendApi } from '@anatine/zod-openapi';
import type { ZodTypeAny } from 'zod';

/** The key under which a schema carries its name until the OpenAPI document gives it a place of its own. */
export const componentKey = 'x-component';

/** Gives a schema its name in the OpenAPI document (`Order`, `OrderCreate`). Call it last: `.strict()` and `.extend()` drop the name again. */
export const component = <Schema extends ZodTypeAny>(name: string, schema: Schema): Schema => extendApi(schema, { [componentKey]: name });
