import { smallDisk } from './small-disk.ts';
import { testScene } from './test-scene.ts';

await testScene('two servers on a PostgreSQL with a small disk', smallDisk, { postgresql: true });
