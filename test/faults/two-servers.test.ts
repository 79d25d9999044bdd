import { testScene } from './test-scene.ts';
import { twoServers } from './two-servers.ts';

testScene(twoServers, { postgresql: true, times: { 'kill-server': 2, 'kill-servers': 0 } });
