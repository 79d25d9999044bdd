import { keepCompiled } from './process/compile-cache.ts';

keepCompiled();
const { runServer } = await import('./process/run-server.ts');
await runServer();
