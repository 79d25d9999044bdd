/**
 * `node replace-file-with-output.ts FILE COMMAND...` replaces a file with the output of a command. If the command fails, the file does not
 * change, whereas the shell would empty it before the command starts.
 */
import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';

const [, , file = '', command = '', ...argv] = process.argv;
const { status, stdout } = spawnSync(command, argv, {
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 2 ** 28,
  shell: process.platform === 'win32',
});
if (status === 0) {
  writeFileSync(`${file}.new`, stdout);
  renameSync(`${file}.new`, file);
} else {
  process.stderr.write(`${file} was not changed, because this command failed: ${[command, ...argv].join(' ')}\n`);
  process.exitCode = 1;
}
