import { embeddedScenario } from '../scenarios/embedded.ts';
import { testScenario } from '../test-scenario.ts';

testScenario(embeddedScenario, { postgresql: false });
