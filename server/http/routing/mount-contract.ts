import type { AppRouter } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import type { IRouter, RequestHandler } from 'express';
import { compileContractSchemas } from '../validation/compile-contract-schemas.ts';
import { createMultipleRouteMatchCheck, addMethodNotAllowedAndOptionsHandlers } from './reject-undeclared-paths-and-methods.ts';

type Handlers<Contract extends AppRouter> = Parameters<typeof createExpressEndpoints<Contract>>[1];

/** Mounts every route of a contract. `middleware` runs for matched requests only, before validation. */
export function mountContract<Contract extends AppRouter>(
  router: IRouter,
  contract: Contract,
  handlers: Handlers<Contract>,
  middleware: RequestHandler[],
): void {
  addMethodNotAllowedAndOptionsHandlers(router, contract, createMultipleRouteMatchCheck(contract));
  createExpressEndpoints(compileContractSchemas(contract), handlers, router, {
    logInitialization: false,
    responseValidation: true,
    globalMiddleware: middleware,
    requestValidationErrorHandler: (error, _req, _res, next) => next(error),
  });
  addMethodNotAllowedAndOptionsHandlers(router, contract);
}
