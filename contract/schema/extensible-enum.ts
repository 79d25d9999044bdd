import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

/** An enumeration that may gain further values. Clients are told to expect unknown values, so adding one is not a breaking change. */
export const extensibleEnumSchema = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  extendApi(z.enum(values), { 'x-open-enum': true });
