import { afterAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../support/database.ts';
import { endServerProcesses } from '../support/server-process.ts';
import { play } from './play.ts';
import { complaints } from './report.ts';
import type { Scene } from './scene.ts';
import type { Stage } from './stage.ts';

type Given = {
  /** Whether it needs a PostgreSQL; left out where none can start. */
  readonly postgresql: boolean;
  /** How often each happens, by name; once unless it is said. */
  readonly times?: Readonly<Record<string, number>>;
};

/** The short form of every fault of a scene, on one stage. After a failure the next one has a stage of its own. */
export async function testScene<S extends Stage>(title: string, scene: Scene<S>, { postgresql, times = {} }: Given): Promise<void> {
  const reason = await scene.missing?.();
  if (reason !== undefined) process.stderr.write(`Faults are left out: ${reason}\n`);
  let stage: S | undefined;
  const close = async (): Promise<void> => {
    const closing = stage;
    stage = undefined;
    await closing?.[Symbol.asyncDispose]();
  };
  describe.skipIf(reason !== undefined || (postgresql && databaseKind === 'pglite'))(`${title}`, { timeout: 300_000 }, () => {
    afterAll(async () => {
      await close();
      endServerProcesses();
    }, 120_000);

    test.each(scene.faults.map((fault) => [fault.title, fault] as const))(
      '%s: nothing confirmed is lost, nothing doubled',
      async (_, fault) => {
        try {
          stage ??= await scene.open();
          const outcome = await play(fault, stage, { times: times[fault.name] ?? 1, hurry: true });
          expect(complaints(outcome)).toEqual([]);
          expect(outcome.acknowledged).toBeGreaterThan(50);
        } catch (error) {
          await close();
          throw error;
        }
      },
    );
  });
}
