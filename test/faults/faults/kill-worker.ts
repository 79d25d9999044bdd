import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Load } from '../traffic/load.ts';
import type { Fault } from '../scenario.ts';
import type { Stage } from '../environments/environment.ts';

/** What takes long enough to be met in the middle of it. */
const [products, productsInAHurry] = [4_000, 1_000];
const task = z.object({ id: z.number(), status: z.string(), progress: z.object({ processed: z.number() }) });

/** Whoever works on an import, and delivers events meanwhile, is killed in the middle of it. */
export const killWorker: Fault<Stage> = {
  name: 'kill-worker',
  title: '`kill -9` of both servers while they work on an import and deliver events',
  async strike({ servers }, { load, hurry }) {
    const id = await startImport(load, hurry ? productsInAHurry : products);
    while ((await readTask(load, id)).progress.processed === 0) await sleep(10);
    const since = performance.now();
    await Promise.all(servers.map((server) => server.die()));
    await Promise.all(servers.map((server) => server.live()));
    return { since };
  },
  async afterwards(_stage, { load }) {
    const { task: id = 0 } = load.ledger.imports.at(-1) ?? {};
    const begun = performance.now();
    for (const end = Date.now() + 180_000; Date.now() < end; await sleep(100)) {
      if ((await readTask(load, id)).status === 'succeeded') break;
    }
    return `the import was through ${((performance.now() - begun) / 1000).toFixed(0)} s later`;
  },
};

const readTask = async ({ administration }: Load, id: number): Promise<z.infer<typeof task>> =>
  task.parse(JSON.parse(await administration.read(`/tasks/${id}`)));

async function startImport({ administration, ledger }: Load, count: number): Promise<number> {
  const category = `import-${randomUUID()}`;
  const lines = Array.from({ length: count }, (_, nth) => `${category}-${nth},Name ${nth},${category},${nth},GBP,active`);
  const body = `sku,name,category,price,currency,status\n${lines.join('\n')}\n`;
  const taken = await administration.untilConfirmed({ key: randomUUID(), path: '/product-imports', body });
  if (!taken) throw new Error('the import was not taken');
  const { id } = task.parse(JSON.parse(taken.text));
  ledger.imports.push({ task: id, category, products: count });
  return id;
}
