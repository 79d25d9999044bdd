import { testScene } from './test-scene.ts';
import { withStandby } from './with-standby.ts';

testScene(withStandby, { postgresql: true });
