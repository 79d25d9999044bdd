import type { MessageSender, PreparedQuery } from './create-pipelined-statement-sender.ts';

/**
 * Matches the comment at the beginning of a statement. The comment contains the statement name, and specifies whether the write is
 * deferred.
 */
export const statementNameAndDeferredFlagPattern = /^\/\*(\w+)( later)?\*\//;

export type DeferOptions = {
  /** If `false`, every statement is sent without a name, for servers or poolers that do not keep prepared statements. */
  readonly preparedStatements: boolean;
  /**
   * Statement that sets the timeouts. This statement is sent with each transaction's first statement and with each statement outside a
   * transaction. If the statement has a name, the connection must already have prepared it.
   */
  readonly limits: PreparedQuery | undefined;
};

const emptyResult = (command: string): object => ({ command, rowCount: 0, rows: [], fields: [] });

/**
 * Defers BEGIN and deferred writes, and sends them in one message with the next statement. Each deferred statement saves one round trip,
 * and a round trip costs more than most statements. If a deferred statement fails, the statement in the same message reports the error. A
 * transaction that is rolled back before anything was sent never reaches PostgreSQL.
 */
export function deferBeginAndDeferredWrites(
  sender: MessageSender,
  { preparedStatements, limits }: DeferOptions,
): (text: unknown, values: unknown, ...more: unknown[]) => unknown {
  const nameFor = (name: string): string => (preparedStatements ? name : '');
  const begin: PreparedQuery = { name: nameFor('begin'), text: 'begin', values: [] };
  const deferred: PreparedQuery[] = [];
  let [isBegun, hasLimits] = [false, false];

  const send = (last: PreparedQuery): unknown => {
    const preceding = deferred.splice(0);
    isBegun ||= last === begin || preceding[0] === begin;
    if (limits === undefined || hasLimits || last === begin) return sender.send(last, preceding);
    hasLimits = isBegun;
    if (last === limits) return sender.send(last, preceding);
    return sender.send(last, preceding[0] === begin ? [begin, limits, ...preceding.slice(1)] : [limits, ...preceding]);
  };
  const endTransaction = (text: 'commit' | 'rollback'): unknown => {
    const isEmpty = deferred[0] === begin && (text === 'rollback' || deferred.length === 1);
    if (isEmpty || text === 'rollback') deferred.length = 0;
    const result = isEmpty
      ? emptyResult(text.toUpperCase())
      : text === 'commit'
        ? send({ name: nameFor(text), text, values: [] })
        : sender.sendUnnamed(text);
    [isBegun, hasLimits] = [false, false];
    return result;
  };
  /** Sends a statement without a name, after the deferred statements. */
  const sendUnnamed = async (text: unknown, values: unknown, more: readonly unknown[]): Promise<unknown> => {
    const isStart = typeof text === 'string' && text.startsWith('start transaction');
    const isInTransaction = isBegun || deferred.length > 0;
    if (isInTransaction && !hasLimits && limits !== undefined) deferred.push(limits);
    const last = deferred.pop();
    if (last) await send(last);
    isBegun ||= isStart;
    const single = !isInTransaction && !isStart && limits !== undefined && more.length === 0 ? singleStatement(text, values) : undefined;
    return single && limits ? sender.send(single, [limits]) : sender.sendUnnamed(text, values, ...more);
  };
  return async (text, values, ...more) => {
    if (text === 'commit' || text === 'rollback') return endTransaction(text);
    const statement = text === 'begin' ? begin : toPreparedQuery(text, values, nameFor);
    if (!statement || more.length > 0) return sendUnnamed(text, values, more);
    const isDeferrable = statement === begin || ((isBegun || deferred.length > 0) && isDeferred(statement));
    if (!isDeferrable || !sender.isPrepared(statement)) return send(statement);
    deferred.push(statement);
    return emptyResult('');
  };
}

function toPreparedQuery(text: unknown, values: unknown, nameFor: (name: string) => string): PreparedQuery | undefined {
  const name = typeof text === 'string' ? statementNameAndDeferredFlagPattern.exec(text)?.[1] : undefined;
  return typeof text === 'string' && name !== undefined && Array.isArray(values) ? { name: nameFor(name), text, values } : undefined;
}

/**
 * Returns an unnamed query if the text is a single statement, as the extended protocol requires. Text without values may contain several
 * statements.
 */
function singleStatement(text: unknown, values: unknown): PreparedQuery | undefined {
  if (typeof text !== 'string') return undefined;
  const given: readonly unknown[] = Array.isArray(values) ? values : [];
  return given.length > 0 || !text.includes(';') ? { name: '', text, values: given } : undefined;
}

const isDeferred = ({ text, values }: PreparedQuery): boolean =>
  statementNameAndDeferredFlagPattern.exec(text)?.[2] !== undefined && values.every(isSafelySerializable);

/** Returns whether pg can serialize a value without throwing an error. A deferred statement must not fail on the client side. */
const isSafelySerializable = (value: unknown): boolean =>
  value == null ||
  typeof value !== 'object' ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
