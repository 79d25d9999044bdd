import { run } from './run.ts';

const exitCode = await run(process.argv.slice(2), process);
// A started server keeps running and sets its own exit code.
if (exitCode !== 0) process.exitCode = exitCode;
