import { clocks } from '../faults/clocks.ts';
import { testScene } from '../run-scenario.ts';

testScene(clocks, { postgresql: true, times: { 'clock-jump': 4 } });
