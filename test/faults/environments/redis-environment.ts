import type { PostgresqlServer } from '../../support/services/postgresql-server.ts';
import type { RedisServer } from '../../support/services/redis-server.ts';
import { PostgresqlEnvironment, type EnvironmentParts } from './environment.ts';

/** Two servers on one PostgreSQL server. The two servers share request counters in Redis if Redis is available. */
export class RedisEnvironment extends PostgresqlEnvironment {
  readonly redis: RedisServer | undefined;

  constructor(parts: EnvironmentParts, postgresql: PostgresqlServer, redis: RedisServer | undefined) {
    super(parts, postgresql);
    this.redis = redis;
    if (redis) this.onClose(() => redis.kill());
  }
}
