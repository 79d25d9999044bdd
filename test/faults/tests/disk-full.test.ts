import { diskFullScenario } from '../scenarios/disk-full.ts';
import { testScenario } from '../test-scenario.ts';

testScenario(diskFullScenario, { postgresql: true });
