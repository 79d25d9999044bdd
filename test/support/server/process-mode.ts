import { beforeEach } from 'vitest';
import { resetBeforeTestFile } from '../test-files/test-file-state.ts';

/** Whether every test server consists of two processes. `npm run test:two-processes` sets `MANDATE_TEST_PROCESSES=2` for this purpose. */
export const usesTwoProcesses = process.env['MANDATE_TEST_PROCESSES'] === '2';

/** Returns whether this option can be passed to a server process in an environment variable. */
export const isEnvironmentOption = (name: string): boolean =>
  ['taxMode', 'previewVersions', 'rateLimits', 'openRegistration', 'refreshGraceSeconds', 'hasBackupDirectory'].includes(name);

let declared = false;
resetBeforeTestFile(() => (declared = false));

/**
 * Declares that the tests in a file or `describe` block need access to their server's process. With two processes, these tests are skipped.
 * @param reason why the tests need one process; the reporter prints this text for every skipped test
 */
export function requireOneProcess(reason: string): void {
  declared = true;
  beforeEach(({ skip }) => skip(usesTwoProcesses, `needs one process: ${reason}`));
}

/** Throws if the test file uses options that require one process, but does not declare this requirement. */
export function assertOneProcessDeclared(options: readonly string[]): void {
  if (!declared)
    throw new Error(`${options.join(', ')} require one process: declare this in the test file with a function of process-mode.ts`);
}
