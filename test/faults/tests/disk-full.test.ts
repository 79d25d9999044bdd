import { smallDisk } from '../faults/disk-full.ts';
import { testScene } from '../run-scenario.ts';

testScene(smallDisk, { postgresql: true });
