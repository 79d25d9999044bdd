import type { Keyring } from './sign-in/system-keyring.ts';

export type Output = {
  write(content: string | Uint8Array): void;
  /** Waits until the reader has taken enough for more to be written. */
  drained(): Promise<void>;
  readonly isTTY: boolean;
  /** Width of the terminal. */
  readonly columns: number;
};

/** Everything a command touches outside of its own memory and the network. */
export type Io = {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /** Whether somebody can answer a question. */
  readonly stdinIsTTY: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly platform: string;
  /** Rejects where the system has no place for secrets. */
  readonly keyring: () => Promise<Keyring>;
  /** Rejects when the browser did not start. */
  readonly openBrowser: (url: string) => Promise<void>;
  /** Ctrl-C. */
  readonly interrupted: AbortSignal;
};
