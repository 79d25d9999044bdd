import type { SystemKeyring } from './system-keyring.ts';

export type OutputStream = {
  write(content: string | Uint8Array): void;
  /** Resolves when the stream can accept more data (backpressure). */
  drained(): Promise<void>;
  readonly isTTY: boolean;
  /** Width of the terminal, in columns. */
  readonly columns: number;
};

/** The process environment that commands use instead of Node's globals, so that tests can replace it. */
export type CliEnvironment = {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /** Whether standard input is a terminal, so that a user can answer prompts. */
  readonly stdinIsTTY: boolean;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly platform: string;
  /** Opens the system keyring. Rejects if the system has no keyring. */
  readonly keyring: () => Promise<SystemKeyring>;
  /** Rejects if the browser could not be started. */
  readonly openBrowser: (url: string) => Promise<void>;
  /** Aborted by SIGINT (Ctrl-C) or SIGTERM. */
  readonly interrupted: AbortSignal;
};
