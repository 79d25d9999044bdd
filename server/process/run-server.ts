import { readConfig } from '../config/read-config.ts';
import { startServer } from './start-server.ts';
import { formatStartupError } from './startup-error-message.ts';

/** Runs the server, configured by the environment, until a signal stops it. Prints start-up errors to stderr. */
export async function runServer(): Promise<void> {
  try {
    await startServer(readConfig());
  } catch (error) {
    process.stderr.write(`Mandate cannot start. ${formatStartupError(error)}\n`);
    process.exitCode = 1;
  }
}
