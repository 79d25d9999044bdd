import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import {
  contract,
  contractV2,
  getRouteMetadata,
  problemCodesOfResponse,
  problemDeclarations,
  listRoutes,
  transportProblemCodes,
} from '@mandate/contract';
import { expect } from 'vitest';
import { z } from 'zod';
import { answerName } from './declared-responses.ts';
import { sawAnswer } from './response-log.ts';

/** What the transport answers on every path, whatever the route declares. */
const transportCodes: readonly string[] = [...transportProblemCodes, 'invalid_request'];

const problemBody = z.object({ type: z.string().url(), status: z.number(), code: z.string(), detail: z.string(), request_id: z.string() });

type Answer = Pick<Response, 'status' | 'headers'>;

/** Holds one answer against the contract: the status is declared, the body is exactly as declared, a failure's code is one of the route's. */
export function checkAgainstContract(method: string, path: string, response: Answer, text: string): void {
  const route = routeOf(method, path);
  const code = checked(method, path, route, response, text);
  if (route && method !== 'HEAD') sawAnswer(answerName(route, response.status, code));
}

/** The code of a failure. */
function checked(method: string, path: string, route: AppRoute | undefined, response: Answer, text: string): string | undefined {
  const what = `${method} ${path} → ${response.status}`;
  expect(response.headers.get('x-request-id'), what).toMatch(/^req_[0-9A-Z]{26}$/);
  if (method === 'HEAD' || response.status === 204 || response.status === 304) {
    expect(text, what).toBe('');
    if (route && method !== 'HEAD') expect(route.responses, what).toHaveProperty(String(response.status));
    return undefined;
  }
  const { produces } = route ? getRouteMetadata(route) : {};
  if (produces && response.status === 200) {
    expect(produces, what).toContain(response.headers.get('content-type')?.split(';')[0]);
    return undefined;
  }
  const body: unknown = JSON.parse(text);
  if (response.status >= 400) return checkProblem(what, route, response, body);
  if (!route) throw new Error(`${what}: not in the contract`);
  expect(response.headers.get('content-type'), what).toBe('application/json; charset=utf-8');
  const declared = route.responses[response.status];
  if (!(declared instanceof z.ZodType)) throw new Error(`${what}: the status is not declared`);
  expect(declared.parse(body), `${what}: more than the contract declares`).toEqual(body);
  return undefined;
}

function checkProblem(what: string, route: AppRoute | undefined, response: Answer, body: unknown): string {
  expect(response.headers.get('content-type'), what).toBe('application/problem+json');
  const failure = problemBody.parse(body);
  expect(failure, what).toMatchObject({ status: response.status, request_id: response.headers.get('x-request-id') });
  expect(failure.type, what).toMatch(new RegExp(`/problems/${failure.code}$`));
  expect(Object.entries(problemDeclarations).find(([code]) => code === failure.code)?.[1].status, `${what}: ${failure.code}`).toBe(
    response.status,
  );
  const declared = route?.responses[response.status];
  const codes = declared !== undefined && isAppRouteOtherResponse(declared) ? problemCodesOfResponse(declared) : transportCodes;
  expect(codes, `${what}: a code that ${route ? getRouteMetadata(route).operationId : 'the transport'} does not declare`).toContain(
    failure.code,
  );
  return failure.code;
}

const routes = [...listRoutes(contract), ...listRoutes(contractV2)].map((route) => ({
  route,
  path: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));

function routeOf(method: string, path: string): AppRoute | undefined {
  const [pathname = ''] = path.split('?', 1);
  const versioned = pathname.replace(/^\/api\/(?!v\d)/, '/api/v1/');
  const asked = method === 'HEAD' ? 'GET' : method;
  return routes.find((known) => known.route.method === asked && known.path.test(versioned))?.route;
}
