import { afterAll, expect, test } from 'vitest';
import { databaseKind } from '../support/services/database.ts';
import { killServerProcesses } from '../support/server/server-process.ts';
import { runFault } from './run-fault.ts';
import { violationLines } from './report.ts';
import type { Scenario } from './scenarios/scenario.ts';
import type { FaultEnvironment } from './environments/environment.ts';

type ScenarioOptions = {
  /** Whether the scenario needs PostgreSQL. Such a scenario is skipped if PostgreSQL cannot start. */
  readonly postgresql: boolean;
  /** Number of injections for each fault name (default: 1). 0 excludes the fault from the tests. */
  readonly times?: Readonly<Record<string, number>>;
};

/**
 * Pause between two orders of the same shopper. The pause is longer than in `npm run faults`, because the load would otherwise use all CPU
 * time during a fault.
 */
const testPauseMs = 100;

/**
 * Tests all faults in a scenario in one environment, with few injections per fault. After a failure, the next fault gets a new environment.
 */
export function testScenario<S extends FaultEnvironment>(scenario: Scenario<S>, { postgresql, times = {} }: ScenarioOptions): void {
  const reason = postgresql && databaseKind === 'pglite' ? 'PostgreSQL is not available' : scenario.missing?.();
  if (reason !== undefined) process.stderr.write(`Fault tests are skipped: ${reason}\n`);
  let environment: S | undefined;
  const close = async (): Promise<void> => {
    const closing = environment;
    environment = undefined;
    await closing?.[Symbol.asyncDispose]();
  };
  afterAll(async () => {
    await close();
    await killServerProcesses();
  }, 120_000);

  const faults = scenario.faults.filter(({ name }) => times[name] !== 0).map((fault) => [fault.title, fault] as const);
  test.skipIf(reason !== undefined).each(faults)('%s: no confirmed write is lost or duplicated', { timeout: 300_000 }, async (_, fault) => {
    try {
      environment ??= await scenario.open();
      const outcome = await runFault(fault, environment, {
        times: times[fault.name] ?? 1,
        expireLeases: true,
        load: { shoppers: 3, users: 1, pauseMs: testPauseMs },
      });
      expect(violationLines(outcome)).toEqual([]);
      expect(outcome.acknowledged).toBeGreaterThan(50);
    } catch (error) {
      await close();
      throw error;
    }
  });
}
