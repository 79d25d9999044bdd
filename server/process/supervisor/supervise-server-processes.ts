import cluster from 'node:cluster';
import type { Config } from '../../config/read-config.ts';
import { createLogger } from '../../logging/logger.ts';
import { countRequestsOfProcessesInSupervisor } from '../../rate-limits/supervisor-counters.ts';
import { ProcessSupervisor } from './process-supervisor.ts';

/**
 * Runs `config.processes` server processes that share the port, until a signal stops them. On SIGHUP, replaces the processes one after the
 * other. If this process is killed, Node.js terminates the server processes.
 */
export async function superviseServerProcesses(config: Config): Promise<void> {
  const log = createLogger(config.production);
  // Each process accepts connections by itself. If the supervisor distributed the connections, a blocked process would still receive
  // connections. In addition, a connection would stay open without a response if its process exited at that moment.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  countRequestsOfProcessesInSupervisor();
  const stopMetrics =
    config.metrics && (await (await import('../../metrics/metrics-of-all-processes.ts')).serveMetricsOfAllProcesses(config.metrics, log));
  const supervisor = new ProcessSupervisor(config.processes, log);
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping');
    await supervisor.stop();
    await stopMetrics?.();
  };
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (isStopping) {
        supervisor.kill();
        process.exit(1);
      }
      isStopping = true;
      void stop(signal);
    });
  }
  process.on('SIGHUP', () => void supervisor.restart());
  const isRunning = await supervisor.start();
  if (isStopping) return;
  if (isRunning) announce(config);
  else {
    process.exitCode = 1;
    await stop('SIGTERM');
  }

  function announce({ production, processes }: Config): void {
    if (production) log.info({ processes }, 'all server processes are running');
    else process.stdout.write(`${processes} server processes are running.\n\n`);
  }
}
