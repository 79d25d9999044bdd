import type { CliEnvironment } from '../environment/cli-environment-type.ts';

const silentOutput = { write: () => undefined, drained: async () => undefined, isTTY: false, columns: 80 };
const reject = (): Promise<never> => Promise.reject(new Error('commands cannot be run during the build'));
/** Environment for commands that are built only for their descriptions and never run. */
export const stubCliEnvironment: CliEnvironment = {
  stdin: (async function* () {})(),
  stdinIsTTY: false,
  stdout: silentOutput,
  stderr: silentOutput,
  env: {},
  homeDirectory: '/',
  platform: 'linux',
  keyring: reject,
  openBrowser: reject,
  interrupted: new AbortController().signal,
};
