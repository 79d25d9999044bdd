import { patroniScenario } from '../scenarios/patroni.ts';
import { testScenario } from '../test-scenario.ts';

testScenario(patroniScenario, { postgresql: false });
