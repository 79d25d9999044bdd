import { runCommandLine } from './run-command-line.ts';

const exitCode = await runCommandLine(process.argv.slice(2), process);
// A started server keeps running and sets its own exit code.
if (exitCode !== 0) process.exitCode = exitCode;
