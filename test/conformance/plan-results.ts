import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const moduleResult = z.object({
  module: z.string(),
  /** The suite's result, such as `PASSED`, or its status if the module did not finish. */
  result: z.string(),
  /** Log entries of the suite that explain a result other than `PASSED`. */
  findings: z.array(z.string()),
});
const planResult = z.object({
  /** ID of the plan. */
  plan: z.string(),
  /** Day of the run. */
  date: z.string(),
  /** Version and commit of the suite. */
  suite: z.object({ version: z.string(), revision: z.string() }),
  /** Commit of this repository. */
  commit: z.string(),
  modules: z.array(moduleResult),
});

export type ModuleResult = z.infer<typeof moduleResult>;
export type PlanResult = z.infer<typeof planResult>;

/** File that contains the latest results of each plan. */
export const resultsFile = join(import.meta.dirname, 'results.json');

export const readResults = async (file = resultsFile): Promise<PlanResult[]> =>
  z.array(planResult).parse(JSON.parse(await readFile(file, 'utf8')));

/** Replaces the result of one plan, and keeps the others. Returns all results. */
export async function storeResult(result: PlanResult, file = resultsFile): Promise<PlanResult[]> {
  const others = (await readResults(file)).filter(({ plan }) => plan !== result.plan);
  const all = [...others, result];
  await writeFile(file, `${JSON.stringify(all, undefined, 2)}\n`);
  return all;
}
