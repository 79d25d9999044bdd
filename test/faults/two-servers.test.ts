import { testScene } from './test-scene.ts';
import { twoServers } from './two-servers.ts';

await testScene('two servers on one PostgreSQL', twoServers, { postgresql: true, times: { 'kill-server': 2 } });
