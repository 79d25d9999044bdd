import { embedded } from './embedded.ts';
import { testScene } from './test-scene.ts';

testScene(embedded, { postgresql: false });
