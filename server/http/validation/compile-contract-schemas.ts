import { isAppRoute, type AppRoute, type AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import { compileSchema, invalidValueSentinel } from './compile-schema.ts';

/** Routes without a declared query reject query parameters, because a misspelled parameter must not be ignored silently. */
const noQueryParameters = z.object({}).strict();

/** Compiles the request and response schemas. A route without a query schema gets a schema that rejects all query parameters. */
export const compileContractSchemas = <Router extends AppRouter>(contract: Router): Router => {
  const entries = Object.entries(contract).map(([name, value]) => [
    name,
    isAppRoute(value) ? compileRoute(value) : compileContractSchemas(value),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys with the same kinds of value
  return Object.fromEntries(entries) as Router;
};

const compileRoute = (route: AppRoute): AppRoute => ({
  ...compileSchemasIn({ ...route, query: route.query ?? noQueryParameters }),
  responses: compileSchemasIn(route.responses),
});

const compileSchemasIn = <Values extends object>(values: Values): Values =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys with the same kinds of value
  Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof z.ZodType ? withCompiledParser(value) : value,
    ]),
  ) as Values;

/** Returns a schema with a faster parser. For invalid values, the original schema is used to report the errors. */
function withCompiledParser(schema: z.ZodTypeAny): z.ZodTypeAny {
  let check: ReturnType<typeof compileSchema> | undefined;
  const safeParse = (value: unknown): z.SafeParseReturnType<unknown, unknown> => {
    check ??= compileSchema(schema);
    const data = check(value);
    return data === invalidValueSentinel ? schema.safeParse(value) : { success: true, data };
  };
  const parse = (value: unknown): unknown => {
    const { data, error } = safeParse(value);
    if (error) throw error;
    return data;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object inherits everything else from the schema
  return Object.create(schema, { safeParse: { value: safeParse }, parse: { value: parse } }) as z.ZodTypeAny;
}
