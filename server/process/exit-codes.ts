export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line is invalid, and nothing was done. */
  usage: 2,
  /** The user pressed Ctrl-C at a prompt. */
  interrupted: 130,
} as const;
