import { readConfig } from '../config/config.ts';
import { startServer } from './start-server.ts';
import { explainFailure } from './startup-error-message.ts';

/** The server as the environment configures it, until a signal ends it; what keeps it from starting is said on stderr. */
export async function runServer(): Promise<void> {
  try {
    await startServer(readConfig());
  } catch (error) {
    process.stderr.write(`Mandate cannot start. ${explainFailure(error)}\n`);
    process.exitCode = 1;
  }
}
