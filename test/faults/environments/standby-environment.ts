import type { PostgresqlServer } from '../../support/services/postgresql-server.ts';
import type { TcpProxy } from '../../support/network/tcp-proxy.ts';
import { PostgresqlStage, type StageParts } from './environment.ts';

/** What it keeps is enough for a standby that is begun while it is busy. */
export const followable = ['wal_level=replica', 'wal_keep_size=512MB', 'hot_standby=on'];

/** On a PostgreSQL that another one follows. */
export class StandbyStage extends PostgresqlStage {
  standby: PostgresqlServer;
  /** From the servers to whichever of the two takes writes. */
  readonly way: TcpProxy;

  constructor(parts: StageParts, primary: PostgresqlServer, standby: PostgresqlServer, way: TcpProxy) {
    super(parts, primary);
    this.standby = standby;
    this.way = way;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.standby.stop();
    await this.way[Symbol.asyncDispose]();
  }
}
