import { type RawBuilder, sql } from 'kysely';
import { eventSubjectDefinitions, type EventSubject, type Scope } from '@mandate/contract';
import { listUsableScopes, canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { buildEventOfClientConditionSql } from './build-event-of-client-condition.sql.ts';

const isSubject = (name: string): name is EventSubject => Object.hasOwn(eventSubjectDefinitions, name);
const subjects = Object.keys(eventSubjectDefinitions).filter(isSubject);

/**
 * Returns the conditions for the events that a principal may see. The conditions are mutually exclusive, and each of them uses a different
 * index. An event is visible if the principal may read its subject.
 */
export function buildVisibleEventConditionsSql(principal: Principal): RawBuilder<unknown>[] {
  const unrestricted = subjects.filter((name) => eventSubjectDefinitions[name].all.some((scope: Scope) => canUseScope(principal, scope)));
  const rest = subjects.filter((name) => !unrestricted.includes(name));
  const own = rest.filter((name) => {
    const scope = eventSubjectDefinitions[name].own;
    return scope !== null && canUseScope(principal, scope);
  });
  const conditions = [sql`v.subject_type = any(${unrestricted}::text[])`, ...ownEvents(principal, own), sharedEvents(principal, rest, own)];
  const requiredClientId = getClientIdIfRestrictedToOwnOrders(principal);
  if (requiredClientId === undefined) return conditions;
  const isOfClient = sql.raw(buildEventOfClientConditionSql('caller.client_id'));
  return conditions.map(
    (condition) => sql`${condition} and exists (select 1 from (select ${requiredClientId}::text as client_id) caller where ${isOfClient})`,
  );
}

function ownEvents(principal: Principal, own: readonly EventSubject[]): RawBuilder<unknown>[] {
  if (!principal.user) return [];
  return [
    sql`v.user_id = ${principal.user.id} and v.subject_type = any(${own}::text[])
        and (v.subject_type <> 'task' or ${taskIsVisible(principal)})`,
  ];
}

/**
 * Returns the condition for events without an owner. These are events about public products, or about tasks of a client that acts on its
 * own behalf.
 */
function sharedEvents(principal: Principal, rest: readonly EventSubject[], own: readonly EventSubject[]): RawBuilder<unknown> {
  const product = rest.includes('product') ? sql`v.subject_type = 'product' and v.data ->> 'status' <> 'draft'` : sql`false`;
  const task =
    !principal.user && own.includes('task')
      ? sql`v.subject_type = 'task' and v.data ->> 'client_id' = ${principal.clientId} and ${taskIsVisible(principal)}`
      : sql`false`;
  return sql`v.user_id is null and (${product} or ${task})`;
}

// A task is visible only to tokens with all scopes that the task requires.
const taskIsVisible = (principal: Principal): RawBuilder<unknown> =>
  sql`exists (select 1 from tasks t where t.id = v.subject_id and t.needs <@ ${listUsableScopes(principal)}::text[])`;
