import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { LoadShedder } from '../http/server/load-shedder.ts';

/** Registers the metrics for active, queued and rejected requests. */
export function registerLoadShedderMetrics(registry: Registry): (loadShedder: LoadShedder) => void {
  let loadShedder: LoadShedder | undefined;
  const working: Gauge = new Gauge({
    name: 'mandate_requests_working',
    help: 'Requests that are being handled.',
    registers: [registry],
    collect: () => working.set(loadShedder?.counts.working ?? 0),
  });
  const waiting: Gauge = new Gauge({
    name: 'mandate_requests_waiting',
    help: 'Requests in the queue.',
    registers: [registry],
    collect: () => waiting.set(loadShedder?.counts.waiting ?? 0),
  });
  const rejected = new Counter({
    name: 'mandate_requests_refused_total',
    help: 'Requests that were rejected because of overload or a timeout.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      rejected.reset();
      for (const [reason, count] of Object.entries(loadShedder?.counts.refused ?? {})) rejected.inc({ reason }, count);
    },
  });
  return (activeShedder) => (loadShedder = activeShedder);
}
