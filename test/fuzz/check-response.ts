import { assertContractResponse } from '../support/contract/assert-contract-response.ts';
import { hostileInputs } from '../support/network/hostile-inputs.ts';
import type { Caller } from './callers.ts';
import type { Operation } from './openapi-operations.ts';
import { attacks } from './hostile-values.ts';
import type { Received, Sent } from './request-sender.ts';

/** Returns the violations in a response, or an empty list. */
export function findViolations(operation: Operation, caller: Caller, sent: Sent, received: Received): string[] {
  const { status, text, headers } = received;
  const faults: string[] = [];
  if (status >= 500) faults.push(`server error: ${status} ${errorCode(text)}`);
  // paths that are no longer below /api after decoding are served by other routes
  if (/^\/api(?=[/?]|$)/.test(sent.path)) faults.push(...contractViolations(sent, received));
  const leaked = internalDetails.exec(removeSentValues(text));
  if (status >= 400 && leaked) faults.push(`internal details: ${leaked[0].slice(0, 80)}`);
  if (/(^|, )x=1/.test(headers.get('set-cookie') ?? '')) faults.push('a request header in the response');
  if (status < 300 && sent.method === operation.method && matchesOperationPath(operation, sent.path))
    faults.push(...authorizationViolations(operation, caller, text));
  return faults;
}

/** Matches stack traces, SQL statements and file paths. */
const internalDetails =
  /node_modules|\bat (?:async )?\S+ \(?(?:file|node):|\.ts:\d+|\bselect [\s\S]{1,200} from |\binsert into |\bupdate \w+ set |violates \S+ constraint|\/(?:home|root|tmp|usr|work)\/|ECONN|ENOENT/;

/** Removes sent values from an error response, because the response may quote them. */
const removeSentValues = (text: string): string =>
  [...attacks, ...hostileInputs].reduce(
    (left, sent) => (sent === '' ? left : left.replaceAll(JSON.stringify(sent).slice(1, -1), '')),
    text,
  );

function contractViolations({ method, path }: Sent, { status, headers, text }: Received): string[] {
  try {
    assertContractResponse(method, path, { status, headers }, text);
    return [];
  } catch (error) {
    return [`contract violation: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const matchesOperationPath = (operation: Operation, path: string): boolean =>
  new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`).test(path);

/** Checks that the caller of a successful request was authorized. */
function authorizationViolations({ security }: Operation, caller: Caller, text: string): string[] {
  const isAuthorized =
    security.length === 0 ||
    (caller.token !== undefined && security.some((scopes) => scopes.every((scope) => caller.scopes.includes(scope))));
  const faults = isAuthorized ? [] : [`succeeded with ${caller.scopes.length > 0 ? `the scopes ${caller.scopes.join(' ')}` : 'no scopes'}`];
  if (caller.userId === undefined) return faults;
  const others = [...text.matchAll(/"user_id":(\d+)/g)].filter(([, id]) => Number(id) !== caller.userId);
  return others.length === 0 ? faults : [...faults, 'the response contains data of another user'];
}

export const errorCode = (text: string): string => /"code":"(\w+)"/.exec(text)?.[1] ?? '';
