import { runServer } from './process/run-server.ts';
await runServer();
