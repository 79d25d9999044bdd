import type { Io } from '../environment.ts';

const silent = { write: () => undefined, drained: async () => undefined, isTTY: false, columns: 80 };
const nowhere = (): Promise<never> => Promise.reject(new Error('nothing runs here'));
/** For commands that are built to be described, and never run. */
export const silentIo: Io = {
  stdin: (async function* () {})(),
  stdinIsTTY: false,
  stdout: silent,
  stderr: silent,
  env: {},
  homeDirectory: '/',
  platform: 'linux',
  keyring: nowhere,
  openBrowser: nowhere,
  interrupted: new AbortController().signal,
};
