import { isAppRoute, type AppRoute, type AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import { compile, misfit } from './compiled-schema.ts';

/** The same contract, whose answers are checked faster. */
export const withCompiledAnswers = <Router extends AppRouter>(contract: Router): Router => {
  const compiled = Object.entries(contract).map(([name, part]) => [
    name,
    isAppRoute(part) ? compiledRoute(part) : withCompiledAnswers(part),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys with the same kinds of value
  return Object.fromEntries(compiled) as Router;
};

const compiledRoute = (route: AppRoute): AppRoute => ({
  ...route,
  responses: Object.fromEntries(
    Object.entries(route.responses).map(([status, answer]) => [status, answer instanceof z.ZodType ? compiledAnswer(answer) : answer]),
  ),
});

/** In all else the schema that it was; what does not fit is left to it, for the reason. */
function compiledAnswer(schema: z.ZodTypeAny): z.ZodTypeAny {
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
