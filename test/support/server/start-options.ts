import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppOptions } from '../../../server/app/app.ts';
import type { DerivedKeys } from '../../../server/crypto/derived-keys.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import type { HttpServerOptions } from '../../../server/http/server/http-server.ts';

/** Limits that no test meets by accident. */
export const generous = { default: 1_000_000, apiKey: 1_000_000, ip: 1_000_000, monthly: 100_000_000 };

export type Given = Partial<
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
    | 'openRegistration'
    | 'documentNetwork'
    | 'lastUse'
    | 'onTokenOperation'
    | 'rateLimits'
    | 'sharedCounters'
    | 'monthlyUse'
    | 'previewVersions'
    | 'refreshGraceSeconds'
  >
> & {
  db?: Database;
  /** What stands in front of the application. */
  http?: Partial<HttpServerOptions>;
  onLogLine?: (line: string) => void;
};

/** A server that listens, wherever it runs. */
export type Served = {
  readonly origin: string;
  readonly db: Database;
  readonly keys: DerivedKeys;
  /** Everything it has logged. */
  output(): string;
  /** Leaves the database open. */
  stop(): Promise<void>;
};

/** @param inspect is shown every request and its answer before anything comes of it */
export type Serve = (
  parts: Omit<Given, 'onLogLine'>,
  onLogLine: (line: string) => void,
  inspect: (req: IncomingMessage, res: ServerResponse) => void,
) => Promise<Served>;
