import { isDeepStrictEqual } from 'node:util';
import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import {
  contract,
  contractV2,
  getRouteMetadata,
  problemCodesOfResponse,
  problemDeclarations,
  listRoutes,
  problemCodesBeforeRouting,
} from '@mandate/contract';
import { expect } from 'vitest';
import { z } from 'zod';
import { responseName } from './declared-responses.ts';
import { recordSeenResponse } from './record-seen-response.ts';

/** Problem codes that a response on any path can contain, even if no route matches the request. */
const transportCodes: readonly string[] = [...problemCodesBeforeRouting, 'invalid_request'];

const problemBody = z.object({ type: z.string().url(), status: z.number(), code: z.string(), detail: z.string(), request_id: z.string() });

type ResponseHead = Pick<Response, 'status' | 'headers'>;

/**
 * The latest accepted responses. Each response is checked when the server sends it and again when `callApi` receives it. This set prevents
 * the second check from repeating the validation.
 */
const accepted = new Set<string>();
const maxAccepted = 100;

/** Checks one response against the contract: status, body and problem code must match the route's declaration. */
export function assertContractResponse(method: string, path: string, response: ResponseHead, text: string): void {
  const { headers, status } = response;
  const checked = [method, path, status, headers.get('x-request-id'), headers.get('content-type'), text].join('\n');
  if (accepted.delete(checked)) return;
  const route = findRoute(method, path);
  const code = checkResponse(method, path, route, response, text);
  if (route && method !== 'HEAD') recordSeenResponse(responseName(route, status, code));
  const [oldest] = accepted;
  if (oldest !== undefined && accepted.size >= maxAccepted) accepted.delete(oldest);
  accepted.add(checked);
}

/** Checks the response and returns its problem code, if any. */
function checkResponse(
  method: string,
  path: string,
  route: AppRoute | undefined,
  response: ResponseHead,
  text: string,
): string | undefined {
  const label = `${method} ${path} → ${response.status}`;
  expect(response.headers.get('x-request-id'), label).toMatch(/^req_[0-9A-Z]{26}$/);
  if (method === 'HEAD' || response.status === 204 || response.status === 304) {
    expect(text, label).toBe('');
    if (route && method !== 'HEAD') expect(route.responses, label).toHaveProperty(String(response.status));
    return undefined;
  }
  const { produces } = route ? getRouteMetadata(route) : {};
  if (produces && response.status === 200) {
    expect(produces, label).toContain(response.headers.get('content-type')?.split(';')[0]);
    return undefined;
  }
  const body: unknown = JSON.parse(text);
  if (response.status >= 400) return checkProblem(label, route, response, body);
  if (!route) throw new Error(`${label}: not in the contract`);
  expect(response.headers.get('content-type'), label).toBe('application/json; charset=utf-8');
  const declared = route.responses[response.status];
  if (!(declared instanceof z.ZodType)) throw new Error(`${label}: the status is not declared`);
  const parsed: unknown = declared.parse(body);
  // `toEqual` is slow
  if (!isDeepStrictEqual(parsed, body)) expect(parsed, `${label}: the body differs from the contract`).toEqual(body);
  return undefined;
}

function checkProblem(label: string, route: AppRoute | undefined, response: ResponseHead, body: unknown): string {
  expect(response.headers.get('content-type'), label).toBe('application/problem+json');
  const problem = problemBody.parse(body);
  expect(problem, label).toMatchObject({ status: response.status, request_id: response.headers.get('x-request-id') });
  expect(problem.type, label).toMatch(new RegExp(`/problems/${problem.code}$`));
  expect(Object.entries(problemDeclarations).find(([code]) => code === problem.code)?.[1].status, `${label}: ${problem.code}`).toBe(
    response.status,
  );
  const declared = route?.responses[response.status];
  const codes = declared !== undefined && isAppRouteOtherResponse(declared) ? problemCodesOfResponse(declared) : transportCodes;
  expect(codes, `${label}: ${route ? getRouteMetadata(route).operationId : 'the transport'} does not declare the code`).toContain(
    problem.code,
  );
  return problem.code;
}

const routes = [...listRoutes(contract), ...listRoutes(contractV2)].map((route) => ({
  route,
  path: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));

function findRoute(method: string, path: string): AppRoute | undefined {
  const [pathname = ''] = path.split('?', 1);
  const versioned = pathname.replace(/^\/api\/(?!v\d)/, '/api/v1/');
  const routeMethod = method === 'HEAD' ? 'GET' : method;
  return routes.find((candidate) => candidate.route.method === routeMethod && candidate.path.test(versioned))?.route;
}
