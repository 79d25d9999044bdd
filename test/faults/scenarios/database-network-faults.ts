import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './scenario.ts';
import type { StandbyEnvironment } from '../environments/standby-environment.ts';

const faultMs = 2_000;

/** Closes all connections between the servers and the database, three times within a second. */
export const cutDatabase: Fault<StandbyEnvironment> = {
  name: 'cut-database',
  title: 'all connections to PostgreSQL cut, three times in a second',
  async inject({ proxy }) {
    for (let times = 0; times < 3; times += 1) {
      proxy.closeConnections();
      await sleep(400);
    }
    proxy.closeConnections();
    return { since: performance.now() };
  },
};

export const slowDatabase: Fault<StandbyEnvironment> = {
  name: 'slow-database',
  title: 'every packet to and from PostgreSQL delayed by 200 ms, for 2 s',
  async inject({ proxy }) {
    proxy.setDelay(200);
    await sleep(faultMs);
    proxy.setDelay(0);
    return { since: performance.now() };
  },
};

/** Stops all traffic on the existing connections without closing them. The servers must detect the dead connections themselves. */
export const silenceDatabase: Fault<StandbyEnvironment> = {
  name: 'silence-database',
  title: 'all connections to PostgreSQL permanently silent, new connections possible after 2 s',
  async inject({ proxy }) {
    proxy.dropTraffic();
    await sleep(faultMs);
    proxy.forwardNewConnections();
    return { since: performance.now() };
  },
  // by default, PostgreSQL sends the first keepalive after two hours (`tcp_keepalives_idle`)
  async restore({ proxy }) {
    proxy.closeDeadConnections();
    return undefined;
  },
};
