export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line was not understood: nothing was done. */
  usage: 2,
  /** Ctrl-C where something was asked. */
  interrupted: 130,
} as const;
