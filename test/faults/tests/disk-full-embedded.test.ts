import { embeddedDiskFullScenario } from '../scenarios/disk-full-embedded.ts';
import { testScenario } from '../test-scenario.ts';

testScenario(embeddedDiskFullScenario, { postgresql: false });
