import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../scenario.ts';
import type { StandbyStage } from '../environments/standby-environment.ts';

const longMs = 2_000;

/** All connections between servers and database break, three times in a second. */
export const cutDatabase: Fault<StandbyStage> = {
  name: 'cut-database',
  title: 'all connections to PostgreSQL cut, three times in a second',
  async strike({ way }) {
    for (let times = 0; times < 3; times += 1) {
      way.cut();
      await sleep(400);
    }
    way.cut();
    return { since: performance.now() };
  },
};

export const slowDatabase: Fault<StandbyStage> = {
  name: 'slow-database',
  title: 'every packet to and from PostgreSQL 200 ms late, for 2 s',
  async strike({ way }) {
    way.delay(200);
    await sleep(longMs);
    way.delay(0);
    return { since: performance.now() };
  },
};

/** Nobody is told that the connections are dead: whoever waits on one for an answer must find out alone. */
export const silenceDatabase: Fault<StandbyStage> = {
  name: 'silence-database',
  title: 'all connections to PostgreSQL silent for ever, new ones after 2 s',
  async strike({ way }) {
    way.silence();
    await sleep(longMs);
    way.goOn();
    return { since: performance.now() };
  },
  // PostgreSQL asks after two hours, unless `tcp_keepalives_idle` says otherwise
  async afterwards({ way }) {
    way.bury();
    return undefined;
  },
};
