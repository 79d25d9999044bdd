import type { Config } from '../config/read-config.ts';
import { createLogger, type Log } from '../logging/logger.ts';
import { importModuleRequiringOptionalPackages } from '../optional-packages/import-module-requiring-optional-packages.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { Shutdown, stopOnSignal } from './graceful-shutdown.ts';
import { connectToSupervisor, disconnectFromSupervisor, isSupervised } from './supervisor/connect-to-supervisor.ts';

/** Starts the server, and resolves when the server is listening. If the server cannot start, closes everything and rejects. */
export async function startServer(config: Config, log: Log = createLogger(config.production)): Promise<void> {
  const opened = new CleanupStack();
  const shutdown = new Shutdown(opened, log);
  const supervised = isSupervised(config);
  const reportReady = supervised ? connectToSupervisor((isReplaced) => void shutdown.stop('supervisor', isReplaced)) : undefined;
  // this function is deferred first, so that it runs last
  if (supervised) opened.defer(disconnectFromSupervisor);
  let welcome: string;
  try {
    // tracing must start before the modules that it instruments are loaded
    if (config.traces) opened.defer(await (await importTracing()).startTracing(config.traces, log));
    const { startServicesOfProcessRole: startProcess } = await import('./start-services-of-process-role.ts');
    welcome = await startProcess(config, log, opened, shutdown);
  } catch (error) {
    await opened.disposeAsync().catch((closeError: unknown) => log.warn({ err: closeError }, 'some resources could not be closed'));
    throw error;
  }
  // The welcome message is printed after the signal handlers are installed, because a user who sees the message may stop the server
  // immediately.
  stopOnSignal(shutdown, log, supervised);
  process.stdout.write(welcome);
  reportReady?.();
}

const importTracing = () =>
  importModuleRequiringOptionalPackages('OTEL_EXPORTER_OTLP_ENDPOINT', '@opentelemetry/', () => import('./start-tracing.ts'));
