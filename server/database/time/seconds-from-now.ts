import { raw } from '@mikro-orm/core';

/** Returns a query value: the transaction time of the database server, plus the given number of seconds. */
export const secondsFromNow = (seconds: number) => raw('now() + make_interval(secs => ?)', [seconds]);
