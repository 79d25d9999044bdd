import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { LoadGuard } from '../http/server/load-shedder.ts';

/** What is worked on, what waits for its turn, and what was refused. */
export function loadMetrics(registry: Registry): (guard: LoadGuard) => void {
  let guard: LoadGuard | undefined;
  const working: Gauge = new Gauge({
    name: 'mandate_requests_working',
    help: 'Requests that are worked on now.',
    registers: [registry],
    collect: () => working.set(guard?.counts.working ?? 0),
  });
  const waiting: Gauge = new Gauge({
    name: 'mandate_requests_waiting',
    help: 'Requests that wait for their turn.',
    registers: [registry],
    collect: () => waiting.set(guard?.counts.waiting ?? 0),
  });
  const refused = new Counter({
    name: 'mandate_requests_refused_total',
    help: 'Requests that were refused because there were too many, or that took too long.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      refused.reset();
      for (const [reason, count] of Object.entries(guard?.counts.refused ?? {})) refused.inc({ reason }, count);
    },
  });
  return (watched) => (guard = watched);
}
