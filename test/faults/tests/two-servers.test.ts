import { testScene } from '../run-scenario.ts';
import { twoServers } from '../environments/two-servers.ts';

testScene(twoServers, { postgresql: true, times: { 'kill-server': 2, 'kill-servers': 0 } });
