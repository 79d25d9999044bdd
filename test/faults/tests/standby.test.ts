import { testScene } from '../run-scenario.ts';
import { withStandby } from '../environments/standby.ts';

testScene(withStandby, { postgresql: true });
