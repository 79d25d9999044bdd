import { checkAgainstContract } from '../support/contract/contract-check.ts';
import { hostile } from '../support/network/hostile-network.ts';
import type { Caller } from './callers.ts';
import type { Operation } from './document.ts';
import { attacks } from './hostile-values.ts';
import type { Received, Sent } from './send.ts';

/** What is wrong with an answer; nothing for one that is right. */
export function faultsOf(operation: Operation, caller: Caller, sent: Sent, received: Received): string[] {
  const { status, text, headers } = received;
  const faults: string[] = [];
  if (status >= 500) faults.push(`a failure of the server: ${status} ${codeIn(text)}`);
  // what is no path of the API any more is answered by others
  if (/^\/api(?=[/?]|$)/.test(sent.path)) faults.push(...againstContract(sent, received));
  const leaked = insides.exec(withoutWhatWasSent(text));
  if (status >= 400 && leaked) faults.push(`something of the inside: ${leaked[0].slice(0, 80)}`);
  if (/(^|, )x=1/.test(headers.get('set-cookie') ?? '')) faults.push('a header of the caller in the answer');
  if (status < 300 && sent.method === operation.method && onPathOf(operation, sent.path))
    faults.push(...beyondRights(operation, caller, text));
  return faults;
}

/** Lines of stacks, statements, and places on the machine. */
const insides =
  /node_modules|\bat (?:async )?\S+ \(?(?:file|node):|\.ts:\d+|\bselect [\s\S]{1,200} from |\binsert into |\bupdate \w+ set |violates \S+ constraint|\/(?:home|root|tmp|usr|work)\/|ECONN|ENOENT/;

/** A failure may name what it refuses. */
const withoutWhatWasSent = (text: string): string =>
  [...attacks, ...hostile].reduce((left, sent) => (sent === '' ? left : left.replaceAll(JSON.stringify(sent).slice(1, -1), '')), text);

function againstContract({ method, path }: Sent, { status, headers, text }: Received): string[] {
  try {
    checkAgainstContract(method, path, { status, headers }, text);
    return [];
  } catch (error) {
    return [`against the contract: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const onPathOf = (operation: Operation, path: string): boolean =>
  new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`).test(path);

/** It succeeded: was it allowed to? */
function beyondRights({ security }: Operation, caller: Caller, text: string): string[] {
  const isEnough =
    security.length === 0 ||
    (caller.token !== undefined && security.some((scopes) => scopes.every((scope) => caller.scopes.includes(scope))));
  const faults = isEnough ? [] : [`it succeeded with the scopes ${caller.scopes.join(' ') || 'of nobody'}`];
  if (caller.userId === undefined) return faults;
  const others = [...text.matchAll(/"user_id":(\d+)/g)].filter(([, id]) => Number(id) !== caller.userId);
  return others.length === 0 ? faults : [...faults, 'it shows what belongs to somebody else'];
}

export const codeIn = (text: string): string => /"code":"(\w+)"/.exec(text)?.[1] ?? '';
