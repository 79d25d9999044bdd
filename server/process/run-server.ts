import cluster from 'node:cluster';
import { readConfig } from '../config/read-config.ts';
import { startServer } from './start-server.ts';
import { formatStartupError } from './startup-error-message.ts';
import { disconnectFromSupervisor } from './supervisor/connect-to-supervisor.ts';
import { superviseServerProcesses } from './supervisor/supervise-server-processes.ts';

/**
 * Runs the server in one or more processes until a signal stops it. Environment variables configure the server. Prints start-up errors to
 * stderr.
 */
export async function runServer(): Promise<void> {
  try {
    const config = readConfig();
    if (config.processes > 1 && cluster.isPrimary) await superviseServerProcesses(config);
    else await startServer(config);
  } catch (error) {
    process.stderr.write(`Mandate cannot start. ${formatStartupError(error)}\n`);
    process.exitCode = 1;
    disconnectFromSupervisor();
  }
}
