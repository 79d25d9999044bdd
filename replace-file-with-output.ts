/**
 * `node replace-file-with-output.ts FILE COMMAND...` replaces a file with the output of a command. If the command fails or prints nothing,
 * the file does not change. A shell redirection would empty the file before the command starts.
 */
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

const [, , file = '', command = '', ...argv] = process.argv;
const { status, stdout } = spawnSync(command, argv, {
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 2 ** 28,
  shell: process.platform === 'win32',
});
if (status === 0 && stdout.length > 0) {
  const newFile = `${file}.new`;
  try {
    writeFileSync(newFile, stdout);
    renameSync(newFile, file);
  } finally {
    // The temporary file still exists only if it could not be written or renamed, for example because the disk is full.
    rmSync(newFile, { force: true });
  }
} else {
  const reason = status === 0 ? 'printed nothing' : 'failed';
  process.stderr.write(`${file} was not changed, because this command ${reason}: ${[command, ...argv].join(' ')}\n`);
  process.exitCode = 1;
}
