/** What a command says goes to `stdout` when it is what was asked for, and to `stderr` when it is about that. */
export type Io = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
