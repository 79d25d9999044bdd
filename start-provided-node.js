import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Runs a program of this repository with the Node.js version that `npm ci` has installed, and exits with its exit code.
 * @param {string} program file URL of the program
 * @param {string} name name of the program in error messages
 * @param {number} major the lowest major version of Node.js that can run the program
 */
export function startProvidedNode(program, name, major) {
  const fail = () => {
    process.stderr.write(`${name} needs Node.js ${major} or later; this is ${process.version}.\n`);
    process.exitCode = 1;
  };
  const node = findProvidedNode();
  if (node === undefined) return fail();
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', fail);
  child.on('exit', (code) => process.exit(code ?? 1));
}

function findProvidedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${platform}-${process.arch}/package.json`);
    const node = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined; // The npm package with Node.js for this platform does not exist or is not installed.
  }
}
