import type { Tokens } from './authorization-server-metadata.ts';

/** Stores the tokens of a refreshing token source. */
export type TokenStore = {
  read(): Promise<Tokens | undefined>;
  write(tokens: Tokens): Promise<void>;
  /**
   * Runs `work` under an exclusive lock that all callers and processes that use these tokens share. A refresh token can be used only once,
   * so two concurrent refreshes would cause the server to revoke the grant.
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
};

/** Creates a store that keeps tokens in memory. */
export function memoryStore(initial: Tokens): TokenStore {
  let tokens = initial;
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: async () => tokens,
    write: async (next) => {
      tokens = next;
    },
    exclusively: async (work) => {
      const result = last.then(work, work);
      last = result.catch(() => undefined);
      return result;
    },
  };
}
