import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

const idMax = Number.MAX_SAFE_INTEGER;

/** An ID in a body: 1 to 2^53-1. IDs may have gaps and are never reused. */
export const idSchema = z.number().int().min(1).max(idMax);

/** An integer in a URL. Each number has exactly one accepted spelling. For example, `0x10`, `1e3`, `01`, `1.0` and spaces are rejected. */
export const integerInUrlSchema = (minimum: number, maximum: number) =>
  extendApi(
    z
      .string()
      .regex(/^(0|-?[1-9]\d{0,15})$/, 'must be an integer written as plain digits')
      .transform(Number)
      .pipe(z.number().int().min(minimum).max(maximum)),
    { type: 'integer', format: 'int64', minimum, maximum },
  );

/** An ID in a URL. The response is 404 if the ID does not exist or belongs to another user, and 400 if the ID is invalid. */
export const idInUrlSchema = integerInUrlSchema(1, idMax);

/** Comma-separated IDs in one query parameter. */
export const commaSeparatedIdsSchema = (description: string) =>
  extendApi(
    z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(idInUrlSchema).min(1).max(100)),
    {
      type: 'array',
      items: { type: 'integer', format: 'int64', minimum: 1, maximum: idMax },
      minItems: 1,
      maxItems: 100,
      description,
    },
  );

/** An ID in a path, with its description. (`describe()` would lose the type that `idInUrlSchema` declares for the OpenAPI document.) */
export const pathIdSchema = (description: string) => extendApi(idInUrlSchema, { description });
