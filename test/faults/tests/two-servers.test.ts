import { testScenario } from '../test-scenario.ts';
import { twoServerScenario } from '../scenarios/two-servers.ts';

testScenario(twoServerScenario, { postgresql: true, times: { 'kill-server': 2, 'kill-servers': 0 } });
