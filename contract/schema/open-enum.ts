import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

/** One of these values, of which there will be more: clients are told to expect others, so that one more is no breaking change. */
export const openEnum = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  extendApi(z.enum(values), { 'x-open-enum': true });
