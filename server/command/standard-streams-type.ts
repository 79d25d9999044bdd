/** Standard streams. Results are written to `stdout`, progress and messages to `stderr`. */
export type StandardStreams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
