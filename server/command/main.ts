import { run } from './run.ts';

const exitCode = await run(process.argv.slice(2), process);
// a server that was started goes on, and says itself how it ends
if (exitCode !== 0) process.exitCode = exitCode;
