import { beforeEach } from 'vitest';

/** `MANDATE_TEST_PROCESSES=2`: the servers of the tests are two processes each, behind one address (`npm run test:two-processes`). */
export const inTwoProcesses = process.env['MANDATE_TEST_PROCESSES'] === '2';

/** Whether a server in a process of its own takes it from an environment variable. */
export const isEnvironment = (name: string): boolean =>
  ['taxMode', 'previewVersions', 'rateLimits', 'openRegistration', 'refreshGraceSeconds'].includes(name);

let declared = false;

/**
 * For a file, or in a `describe`, whose tests reach into the process of their server. With two processes they are skipped.
 * @param why what they reach for; stands beside the skipped test
 */
export function needsOneProcess(why: string): void {
  declared = true;
  beforeEach(({ skip }) => skip(inTwoProcesses, `needs one process: ${why}`));
}

/** What cannot be had in two processes is refused, unless the tests say that they are not meant for them. */
export function expectDeclared(parts: readonly string[]): void {
  if (!declared) throw new Error(`${parts.join(', ')} cannot be had in two processes: say needsOneProcess(why) in this file`);
}
