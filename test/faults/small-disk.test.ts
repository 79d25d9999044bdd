import { smallDisk } from './small-disk.ts';
import { testScene } from './test-scene.ts';

testScene(smallDisk, { postgresql: true });
