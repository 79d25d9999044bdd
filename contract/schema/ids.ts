import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

const idMax = Number.MAX_SAFE_INTEGER;

/** An identifier in a body: 1 to 2^53-1. Identifiers are not gapless and never reused. */
export const id = z.number().int().min(1).max(idMax);

/** An integer written in a URL. One spelling each: `0x10`, `1e3`, `01`, `1.0` and blanks are refused. */
export const urlInteger = (minimum: number, maximum: number) =>
  extendApi(
    z
      .string()
      .regex(/^(0|-?[1-9]\d{0,15})$/, 'must be an integer in plain digits')
      .transform(Number)
      .pipe(z.number().int().min(minimum).max(maximum)),
    { type: 'integer', format: 'int64', minimum, maximum },
  );

/** An identifier in a URL. Well-formed but unknown, or somebody else's, is 404; anything else is 400. */
export const urlId = urlInteger(1, idMax);

/** Several identifiers in one parameter, separated by commas. */
export const urlIdList = (description: string) =>
  extendApi(
    z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(urlId).min(1).max(100)),
    {
      type: 'array',
      items: { type: 'integer', format: 'int64', minimum: 1, maximum: idMax },
      minItems: 1,
      maxItems: 100,
      description,
    },
  );

/** An identifier in a path, with its description: `describe()` would drop what the OpenAPI document has to say of the type. */
export const pathId = (description: string) => extendApi(urlId, { description });
