import { pino, type DestinationStream, type Logger } from 'pino';
import { z } from 'zod';

export type Log = Logger;

/**
 * Maximum size and age of buffered log lines. Lines are buffered because writing each line separately would take as much CPU time as a
 * small response.
 */
const bufferOptions = { sync: false, minLength: 16_000, periodicFlush: 100 };

/**
 * Creates a logger. In production, the logger writes JSON lines to stderr. In development, the logger writes only warnings and errors, as
 * readable text.
 */
export function createLogger(production: boolean, destination?: DestinationStream): Log {
  if (production)
    return pino({ level: 'info', serializers: { err: serializeError } }, destination ?? pino.destination({ fd: 2, ...bufferOptions }));
  const stream = destination ?? process.stderr;
  return pino(
    { level: 'warn', base: null, serializers: { err: serializeError } },
    { write: (line) => void stream.write(formatLine(line)) },
  );
}

/**
 * The error properties to log. Other properties of database errors are omitted, because they contain the statement and the row, including
 * personal data or hashes.
 */
type ErrorDescription = {
  name: string;
  message: string;
  stack?: string | undefined;
  code?: unknown;
  constraint?: unknown;
  cause?: ErrorDescription;
};

function serializeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
  const { name, message, stack, cause } = error;
  // MikroORM appends the PostgreSQL error detail, which contains the row, to the message.
  const detail = 'detail' in error ? `\n - detail: ${String(error.detail)}` : '';
  return {
    name,
    message: message.replace(detail, ''),
    stack: stack?.replace(detail, ''),
    ...('code' in error && { code: error.code }),
    ...('constraint' in error && { constraint: error.constraint }),
    ...(cause !== undefined && { cause: serializeError(cause) }),
  };
}

const logLineSchema = z.object({
  level: z.number(),
  time: z.number(),
  msg: z.string().default(''),
  err: z.object({ stack: z.string().optional() }).optional(),
});

function formatLine(line: string): string {
  const { level, time, msg, err, ...rest } = logLineSchema.passthrough().parse(JSON.parse(line));
  const details = Object.entries(rest).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const stack = err?.stack === undefined ? '' : `\n${err.stack}`;
  return `${new Date(time).toISOString().slice(11, 19)} ${pino.levels.labels[level] ?? level}: ${msg}${details.join('')}${stack}\n`;
}
