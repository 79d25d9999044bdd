import { keepCompiled } from './process/keep-compiled.ts';

keepCompiled();
const { runServer } = await import('./process/run-server.ts');
await runServer();
