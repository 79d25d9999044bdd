import { embedded } from '../environments/embedded.ts';
import { testScene } from '../run-scenario.ts';

testScene(embedded, { postgresql: false });
