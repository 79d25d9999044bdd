import { smallDiskEmbedded } from '../faults/disk-full-embedded.ts';
import { testScene } from '../run-scenario.ts';

testScene(smallDiskEmbedded, { postgresql: false });
