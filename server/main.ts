import { cacheCompiledModules } from './process/compile-cache.ts';

cacheCompiledModules();
const { runServer } = await import('./process/run-server.ts');
await runServer();
