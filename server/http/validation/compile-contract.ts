import { isAppRoute, type AppRoute, type AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import { compile, misfit } from './compile-schema.ts';

/** A route that declares no query takes no query parameters: a misspelled or unsupported option must not be ignored silently. */
const noQueryParameters = z.object({}).strict();

/** The contract as the server enforces it: compiled schemas for requests and responses, and a strict query on every route. */
export const withCompiledSchemas = <Router extends AppRouter>(contract: Router): Router => {
  const parts = Object.entries(contract).map(([name, part]) => [name, isAppRoute(part) ? compiledRoute(part) : withCompiledSchemas(part)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys with the same kinds of value
  return Object.fromEntries(parts) as Router;
};

const compiledRoute = (route: AppRoute): AppRoute => ({
  ...compiledValues({ ...route, query: route.query ?? noQueryParameters }),
  responses: compiledValues(route.responses),
});

const compiledValues = <Values extends object>(values: Values): Values =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys with the same kinds of value
  Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [name, value instanceof z.ZodType ? compiled(value) : value]),
  ) as Values;

/** In all else the schema that it was; what does not fit is left to it, for the reason. */
function compiled(schema: z.ZodTypeAny): z.ZodTypeAny {
  let check: ReturnType<typeof compile> | undefined;
  const safeParse = (value: unknown): z.SafeParseReturnType<unknown, unknown> => {
    check ??= compile(schema);
    const data = check(value);
    return data === misfit ? schema.safeParse(value) : { success: true, data };
  };
  const parse = (value: unknown): unknown => {
    const { data, error } = safeParse(value);
    if (error) throw error;
    return data;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it inherits everything else
  return Object.create(schema, { safeParse: { value: safeParse }, parse: { value: parse } }) as z.ZodTypeAny;
}
