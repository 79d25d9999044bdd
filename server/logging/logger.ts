import { pino, type DestinationStream, type Logger } from 'pino';
import { z } from 'zod';

export type Log = Logger;

/** Lines are gathered for so many milliseconds, or until there are so many characters: a write for each would cost as much as a short answer. */
const gathered = { sync: false, minLength: 16_000, periodicFlush: 100 };

/** JSON lines for machines in production, on stderr; in development only what somebody should look at, in words. */
export function createLog(production: boolean, destination?: DestinationStream): Log {
  if (production)
    return pino({ level: 'info', serializers: { err: describeError } }, destination ?? pino.destination({ fd: 2, ...gathered }));
  const stream = destination ?? process.stderr;
  return pino({ level: 'warn', base: null, serializers: { err: describeError } }, { write: (line) => void stream.write(inWords(line)) });
}

/**
 * What helps to find a fault. The other properties of database errors are left out, because they repeat
 * the statement and the row: somebody's address, or a hash.
 */
type ErrorDescription = {
  name: string;
  message: string;
  stack?: string | undefined;
  code?: unknown;
  constraint?: unknown;
  cause?: ErrorDescription;
};

function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    stack,
    ...('code' in error && { code: error.code }),
    ...('constraint' in error && { constraint: error.constraint }),
    ...(cause !== undefined && { cause: describeError(cause) }),
  };
}

const logLine = z.object({
  level: z.number(),
  time: z.number(),
  msg: z.string().default(''),
  err: z.object({ stack: z.string().optional() }).optional(),
});

function inWords(line: string): string {
  const { level, time, msg, err, ...rest } = logLine.passthrough().parse(JSON.parse(line));
  const details = Object.entries(rest).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const stack = err?.stack === undefined ? '' : `\n${err.stack}`;
  return `${new Date(time).toISOString().slice(11, 19)} ${pino.levels.labels[level] ?? level}: ${msg}${details.join('')}${stack}\n`;
}
