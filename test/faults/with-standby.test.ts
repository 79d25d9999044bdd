import { testScene } from './test-scene.ts';
import { withStandby } from './with-standby.ts';

await testScene('two servers on a PostgreSQL that another one follows', withStandby, { postgresql: true });
