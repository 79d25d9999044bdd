import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppOptions } from '../../../server/app/app.ts';
import type { DerivedKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import type { HttpServerOptions } from '../../../server/http/server/http-server.ts';

/** Rate limits that no test exceeds by accident. */
export const unlimitedRates = { default: 1_000_000, apiKey: 1_000_000, ip: 1_000_000, monthly: 100_000_000 };

export type StartOptions = Partial<
  Pick<
    AppOptions,
    | 'store'
    | 'log'
    | 'development'
    | 'securityContact'
    | 'taxMode'
    | 'providers'
    | 'limits'
    | 'canMail'
    | 'languages'
    | 'openRegistration'
    | 'documentNetwork'
    | 'lastUse'
    | 'onTokenOperation'
    | 'rateLimits'
    | 'createCounters'
    | 'monthlyUse'
    | 'previewVersions'
    | 'refreshGraceSeconds'
    | 'clientCertificates'
    | 'trustProxy'
    | 'hasBackupDirectory'
  >
> & {
  db?: Database;
  /** HTTP server options. */
  http?: Partial<HttpServerOptions>;
  onLogLine?: (line: string) => void;
};

/** A running server, in this process or in child processes. */
export type StartedServer = {
  readonly origin: string;
  readonly db: Database;
  readonly keys: DerivedKeys;
  /** Returns the complete log. */
  output(): string;
  /** Stops the server and leaves the database open. */
  stop(): Promise<void>;
};

/** @param inspect is called with the request and response objects of every request, before the application handles it */
export type StartServer = (
  options: Omit<StartOptions, 'onLogLine'>,
  onLogLine: (line: string) => void,
  inspect: (req: IncomingMessage, res: ServerResponse) => void,
) => Promise<StartedServer>;
