import { clockScenario } from '../scenarios/clock-changes.ts';
import { testScenario } from '../test-scenario.ts';

testScenario(clockScenario, { postgresql: true, times: { 'clock-jump': 4 } });
