import { patroni } from './patroni.ts';
import { testScene } from './test-scene.ts';

testScene(patroni, { postgresql: false });
