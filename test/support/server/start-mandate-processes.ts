import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { unlimitedRates, type StartOptions, type StartServer } from './start-options.ts';
import { startRedis, type RedisServer } from '../services/redis-server.ts';
import { testServerSecret } from './test-server-secret.ts';
import { createDataDirectory } from './server-process.ts';
import { startEmptyServerPair } from './server-pair.ts';

/**
 * Starts two `server/main.ts` processes on one PostgreSQL database. A load balancer sends requests to the two processes alternately,
 * regardless of the client connection. Servers with rate limits share a Redis server.
 */
export const startMandateProcesses: StartServer = async (options, onLogLine, inspect) => {
  const redis = options.rateLimits && !isGenerous(options.rateLimits) ? await startRedis() : undefined;
  const directory = await createDataDirectory();
  const pair = await startEmptyServerPair(directory.path, serverEnvironment(options, redis), inspect, (line) =>
    onLogLine(toJsonLogLine(line)),
  );
  return {
    origin: pair.origin,
    db: pair.db,
    keys: deriveKeys(testServerSecret),
    output: () => pair.output(),
    async stop() {
      await pair.stop();
      await redis?.kill();
      await directory[Symbol.asyncDispose]();
    },
  };
};

const isGenerous = (limits: NonNullable<StartOptions['rateLimits']>): boolean => limits.default >= unlimitedRates.default;

function serverEnvironment(
  { taxMode, previewVersions, openRegistration, refreshGraceSeconds, hasBackupDirectory, rateLimits = unlimitedRates }: StartOptions,
  redis?: RedisServer,
): Record<string, string> {
  return {
    MANDATE_TRUST_PROXY: '127.0.0.1, ::1',
    MANDATE_CONCURRENCY: '10000', // tests do not limit concurrent requests
    MANDATE_RATE_LIMIT: String(rateLimits.default),
    MANDATE_RATE_LIMIT_API_KEY: String(rateLimits.apiKey),
    MANDATE_RATE_LIMIT_IP: String(rateLimits.ip),
    MANDATE_MONTHLY_QUOTA: String(rateLimits.monthly),
    ...(taxMode && { MANDATE_TAX_MODE: taxMode }),
    ...(openRegistration && { MANDATE_OPEN_REGISTRATION: 'on' }),
    ...(previewVersions && { MANDATE_PREVIEW_VERSIONS: 'on' }),
    ...(refreshGraceSeconds !== undefined && { MANDATE_REFRESH_GRACE_SECONDS: String(refreshGraceSeconds) }),
    // only workers access the backup directory
    ...(hasBackupDirectory && { MANDATE_BACKUP_DIR: '/nonexistent' }),
    ...(redis && { REDIS_URL: redis.url }),
  };
}

const pinoLevels: Record<string, number> = { warn: 40, error: 50, fatal: 60 };

/** Converts a log line from text to JSON, which is the log format of in-process servers. */
function toJsonLogLine(line: string): string {
  const [, level = ''] = /^[\d:]{8} (\w+): /.exec(line) ?? [];
  return JSON.stringify({ level: pinoLevels[level] ?? 0, msg: line });
}
