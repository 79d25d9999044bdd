import type { Config } from '../config/config.ts';
import { createLog, type Log } from '../logging/logger.ts';
import { stopOnSignal } from './graceful-shutdown.ts';

/** Resolves when the server listens; from then on a signal ends it, and the process with it. Rejects, with everything closed, when it cannot start. */
export async function startServer(config: Config, log: Log = createLog(config.production)): Promise<void> {
  const opened = new AsyncDisposableStack();
  try {
    // before anything is loaded that it watches
    if (config.traces) opened.defer(await (await import('./tracing.ts')).startTracing(config.traces, log));
    const { startProcess } = await import('./start-process.ts');
    await startProcess(config, log, opened);
  } catch (error) {
    await opened.disposeAsync().catch((left: unknown) => log.warn({ err: left }, 'not everything could be closed'));
    throw error;
  }
  stopOnSignal(opened, log);
}
