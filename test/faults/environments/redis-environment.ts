import type { PostgresqlServer } from '../../support/services/postgresql-server.ts';
import type { RedisServer } from '../../support/services/redis-server.ts';
import { PostgresqlStage, type StageParts } from './environment.ts';

/** Two servers on one PostgreSQL, which count requests in one Redis where there is one. */
export class RedisStage extends PostgresqlStage {
  readonly redis: RedisServer | undefined;

  constructor(parts: StageParts, postgresql: PostgresqlServer, redis: RedisServer | undefined) {
    super(parts, postgresql);
    this.redis = redis;
    if (redis) this.alsoClose(() => redis.kill());
  }
}
