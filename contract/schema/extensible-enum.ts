import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

/**
 * An enumeration to which values may be added. The API reference tells clients to expect unknown values, so a new value is not a breaking
 * change.
 */
export const extensibleEnumSchema = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  extendApi(z.enum(values), { 'x-open-enum': true });
