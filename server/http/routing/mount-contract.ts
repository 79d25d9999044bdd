import type { AppRouter } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import type { IRouter, RequestHandler } from 'express';
import { withCompiledSchemas } from '../validation/compile-contract.ts';
import { overlaps, refuseOtherMethods } from './unknown-routes.ts';

type Handlers<Contract extends AppRouter> = Parameters<typeof createExpressEndpoints<Contract>>[1];

/** Serves every route of a contract; `before` runs in every request that has met one, before anything of it is validated. */
export function serveContract<Contract extends AppRouter>(
  router: IRouter,
  contract: Contract,
  handlers: Handlers<Contract>,
  before: RequestHandler[],
): void {
  refuseOtherMethods(router, contract, overlaps(contract));
  createExpressEndpoints(withCompiledSchemas(contract), handlers, router, {
    logInitialization: false,
    responseValidation: true,
    globalMiddleware: before,
    requestValidationErrorHandler: (error, _req, _res, next) => next(error),
  });
  refuseOtherMethods(router, contract);
}
