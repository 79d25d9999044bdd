import { enableModuleCompileCache } from './process/compile-cache.ts';

enableModuleCompileCache();
const { runServer } = await import('./process/run-server.ts');
await runServer();
