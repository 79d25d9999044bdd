import type { PostgresqlServer } from '../../support/services/postgresql-server.ts';
import type { TcpProxy } from '../../support/network/tcp-proxy.ts';
import { PostgresqlEnvironment, type EnvironmentParts } from './environment.ts';

/** PostgreSQL settings for a primary that keeps enough WAL for a standby created under load. */
export const standbySettings = ['wal_level=replica', 'wal_keep_size=512MB', 'hot_standby=on'];

/** Servers connected to a PostgreSQL primary that has a standby. */
export class StandbyEnvironment extends PostgresqlEnvironment {
  standby: PostgresqlServer;
  /** Proxy between the servers and the current primary. */
  readonly proxy: TcpProxy;

  constructor(parts: EnvironmentParts, primary: PostgresqlServer, standby: PostgresqlServer, proxy: TcpProxy) {
    super(parts, primary);
    this.standby = standby;
    this.proxy = proxy;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.standby.stop();
    await this.proxy[Symbol.asyncDispose]();
  }
}
