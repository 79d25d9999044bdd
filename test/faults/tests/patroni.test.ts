import { patroni } from '../faults/patroni.ts';
import { testScene } from '../run-scenario.ts';

testScene(patroni, { postgresql: false });
