import { clocks } from './clocks.ts';
import { testScene } from './test-scene.ts';

testScene(clocks, { postgresql: true, times: { 'clock-jump': 4 } });
