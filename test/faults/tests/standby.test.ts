import { testScenario } from '../test-scenario.ts';
import { standbyScenario } from '../scenarios/standby.ts';

testScenario(standbyScenario, { postgresql: true });
