import type { ApiKeyLastUseBuffer } from '../api-keys/api-key-last-use-buffer.ts';
import type { Config } from '../config/read-config.ts';
import type { RequestActivityMonitor } from '../http/server/request-activity-monitor.ts';
import type { RunListQuery } from '../database/replica/primary-only-list-query-runner.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import type { DiskSpaceMonitor } from '../database/storage/disk-space-monitor.ts';
import type { Log } from '../logging/logger.ts';
import type { MailTransport } from '../mail/deliver-queued-mail.ts';
import type { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';
import type { Shutdown } from './graceful-shutdown.ts';
import type { DerivedKeys } from '../crypto/derived-keys-and-server-secret.ts';
import type { MonthlyUsageBuffer } from '../usage/monthly-usage-buffer.ts';

/** Dependencies of every process, regardless of its role. */
export type ProcessDependencies = {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  /** Disk space monitor of the embedded database. */
  readonly storage: DiskSpaceMonitor | undefined;
  /** Runs list queries on the read replica, if there is one. */
  readonly readList: RunListQuery | undefined;
  readonly metrics: PrometheusMetrics | undefined;
  readonly keys: DerivedKeys;
  readonly providers: PaymentProviders;
  readonly transport: MailTransport | undefined;
  readonly requests: RequestActivityMonitor;
  readonly lastUse: ApiKeyLastUseBuffer;
  readonly monthlyUse: MonthlyUsageBuffer;
  readonly shutdown: Shutdown;
};
