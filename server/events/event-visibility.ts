import { type RawBuilder, sql } from 'kysely';
import { eventSubjects, type EventSubject, type Scope } from '@mandate/contract';
import { allowedScopes, may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';

const isSubject = (name: string): name is EventSubject => Object.hasOwn(eventSubjects, name);
const subjects = Object.keys(eventSubjects).filter(isSubject);

/**
 * Which events a principal sees, as conditions that exclude each other; each is read from an index of its own.
 * An event is theirs when it happened to something that they could read.
 */
export function visibleEvents(principal: Principal): RawBuilder<unknown>[] {
  const everybodys = subjects.filter((name) => eventSubjects[name].all.some((scope: Scope) => may(principal, scope)));
  const rest = subjects.filter((name) => !everybodys.includes(name));
  const own = rest.filter((name) => {
    const scope = eventSubjects[name].own;
    return scope !== null && may(principal, scope);
  });
  return [sql`v.subject_type = any(${everybodys}::text[])`, ...theirs(principal, own), shops(principal, rest, own)];
}

function theirs(principal: Principal, own: readonly EventSubject[]): RawBuilder<unknown>[] {
  if (!principal.user) return [];
  return [
    sql`v.user_id = ${principal.user.id} and v.subject_type = any(${own}::text[])
        and (v.subject_type <> 'task' or ${taskIsVisible(principal)})`,
  ];
}

/** What belongs to nobody: products that the public can see, and the tasks of an application that acts for itself. */
function shops(principal: Principal, rest: readonly EventSubject[], own: readonly EventSubject[]): RawBuilder<unknown> {
  const product = rest.includes('product') ? sql`v.subject_type = 'product' and v.data ->> 'status' <> 'draft'` : sql`false`;
  const task =
    !principal.user && own.includes('task')
      ? sql`v.subject_type = 'task' and v.data ->> 'client_id' = ${principal.clientId} and ${taskIsVisible(principal)}`
      : sql`false`;
  return sql`v.user_id is null and (${product} or ${task})`;
}

// A task shows only to tokens that have the scopes it was started with.
const taskIsVisible = (principal: Principal): RawBuilder<unknown> =>
  sql`exists (select 1 from tasks t where t.id = v.subject_id and t.needs <@ ${allowedScopes(principal)}::text[])`;
