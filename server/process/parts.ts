import type { LastUse } from '../api-keys/last-use.ts';
import type { Config } from '../config.ts';
import type { ReadList } from '../database/list-reads.ts';
import type { Database } from '../database/orm.ts';
import type { StorageReserve } from '../database/storage-reserve.ts';
import type { Log } from '../log.ts';
import type { MailTransport } from '../mail/deliver-mail.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PaymentProviders } from '../payments/provider.ts';
import type { SecretKeys } from '../secret-keys.ts';
import type { MonthlyUse } from '../usage/monthly-use.ts';

/** What a process has, whatever it does. */
export type ProcessParts = {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  /** Disk space of the embedded database. */
  readonly storage: StorageReserve | undefined;
  /** From the replica, where there is one. */
  readonly readList: ReadList | undefined;
  readonly metrics: Metrics | undefined;
  readonly keys: SecretKeys;
  readonly providers: PaymentProviders;
  readonly transport: MailTransport | undefined;
  readonly lastUse: LastUse;
  readonly monthlyUse: MonthlyUse;
};
