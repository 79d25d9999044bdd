import { embedded } from './embedded.ts';
import { testScene } from './test-scene.ts';

await testScene('one server on PGlite', embedded, { postgresql: false });
