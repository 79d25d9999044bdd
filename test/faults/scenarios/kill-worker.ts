import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Load } from '../traffic/load.ts';
import type { Fault } from './scenario.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

/** Number of imported products, large enough that the server can be killed during the import. */
const [products, productsWithExpiredLeases] = [4_000, 1_000];
const task = z.object({ id: z.number(), status: z.string(), progress: z.object({ processed: z.number() }) });

/** Kills the servers while one of them runs an import and delivers events. */
export const killWorker: Fault<FaultEnvironment> = {
  name: 'kill-worker',
  title: '`kill -9` of both servers during an import and event delivery',
  async inject({ servers }, { load, expireLeases }) {
    const id = await startImport(load, expireLeases ? productsWithExpiredLeases : products);
    while ((await readTask(load, id)).progress.processed === 0) await sleep(10);
    const since = performance.now();
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(servers.map((server) => server.start()));
    return { since };
  },
  async restore(_environment, { load }) {
    const { task: id = 0 } = load.ledger.imports.at(-1) ?? {};
    const begun = performance.now();
    for (const end = Date.now() + 180_000; Date.now() < end; await sleep(100)) {
      if ((await readTask(load, id)).status === 'succeeded') break;
    }
    return `import completed ${((performance.now() - begun) / 1000).toFixed(0)} s after the restart`;
  },
};

const readTask = async ({ administration }: Load, id: number): Promise<z.infer<typeof task>> =>
  task.parse(JSON.parse(await administration.read(`/tasks/${id}`)));

async function startImport({ administration, ledger }: Load, count: number): Promise<number> {
  const category = `import-${randomUUID()}`;
  const lines = Array.from({ length: count }, (_, nth) => `${category}-${nth},Name ${nth},${category},${nth},GBP,active`);
  const body = `sku,name,category,price,currency,status\n${lines.join('\n')}\n`;
  const accepted = await administration.writeUntilConfirmed({ key: randomUUID(), path: '/product-imports', body });
  if (!accepted) throw new Error('the import was not accepted');
  const { id } = task.parse(JSON.parse(accepted.text));
  ledger.imports.push({ task: id, category, products: count });
  return id;
}
