import { raw } from '@mikro-orm/core';

/** Returns an SQL expression for the database server's transaction time plus the given number of seconds. */
export const secondsFromNowSql = (seconds: number) => raw('now() + make_interval(secs => ?)', [seconds]);
