import { afterAll, expect, test } from 'vitest';
import { databaseKind } from '../support/services/database.ts';
import { endServerProcesses } from '../support/server/server-process.ts';
import { play } from './run-fault.ts';
import { complaints } from './report.ts';
import type { Scene } from './scenario.ts';
import type { Stage } from './environments/environment.ts';

type Given = {
  /** Whether it needs a PostgreSQL; left out where none can start. */
  readonly postgresql: boolean;
  /** How often each happens, by name; once unless it is said, and 0 leaves it to the long form. */
  readonly times?: Readonly<Record<string, number>>;
};

/** The short form of every fault of a scene, on one stage. After a failure the next one has a stage of its own. */
export function testScene<S extends Stage>(scene: Scene<S>, { postgresql, times = {} }: Given): void {
  const reason = postgresql && databaseKind === 'pglite' ? 'there is no PostgreSQL' : scene.missing?.();
  if (reason !== undefined) process.stderr.write(`Faults are left out: ${reason}\n`);
  let stage: S | undefined;
  const close = async (): Promise<void> => {
    const closing = stage;
    stage = undefined;
    await closing?.[Symbol.asyncDispose]();
  };
  afterAll(async () => {
    await close();
    endServerProcesses();
  }, 120_000);

  const faults = scene.faults.filter(({ name }) => times[name] !== 0).map((fault) => [fault.title, fault] as const);
  test.skipIf(reason !== undefined).each(faults)(
    '%s: nothing confirmed is lost, nothing doubled',
    { timeout: 300_000 },
    async (_, fault) => {
      try {
        stage ??= await scene.open();
        const outcome = await play(fault, stage, { times: times[fault.name] ?? 1, hurry: true, load: { buyers: 3, visitors: 1 } });
        expect(complaints(outcome)).toEqual([]);
        expect(outcome.acknowledged).toBeGreaterThan(50);
      } catch (error) {
        await close();
        throw error;
      }
    },
  );
}
