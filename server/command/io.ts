/** Standard streams. Results are written to `stdout`, progress and messages to `stderr`. */
export type Io = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
