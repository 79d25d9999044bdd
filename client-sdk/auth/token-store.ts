import type { Tokens } from './authorization-server-metadata.ts';

/** Where a refreshing token source keeps its tokens. */
export type TokenStore = {
  read(): Promise<Tokens | undefined>;
  write(tokens: Tokens): Promise<void>;
  /**
   * Runs `work` while nobody else who shares the tokens, in this process or another, runs theirs.
   * A refresh token works once; two refreshes at a time would end the grant.
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
};

/** Keeps tokens as long as the process or page lives. */
export function memoryStore(initial: Tokens): TokenStore {
  let tokens = initial;
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: async () => tokens,
    write: async (next) => {
      tokens = next;
    },
    exclusively: async (work) => {
      const mine = last.then(work, work);
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
