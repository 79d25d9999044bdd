import { clocks } from './clocks.ts';
import { testScene } from './test-scene.ts';

await testScene('two servers with clocks of their own', clocks, { postgresql: true, times: { 'clock-jump': 4 } });
