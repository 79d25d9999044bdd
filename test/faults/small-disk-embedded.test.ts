import { smallDiskEmbedded } from './small-disk-embedded.ts';
import { testScene } from './test-scene.ts';

testScene(smallDiskEmbedded, { postgresql: false });
