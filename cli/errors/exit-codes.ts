export const exitCodes = {
  done: 0,
  unforeseen: 1,
  /** Invalid command line, rejected before any request. */
  usage: 2,
  declined: 3,
  signInNeeded: 4,
  notAllowed: 5,
  notFound: 6,
  conflict: 7,
  inputRefused: 8,
  rateLimited: 9,
  serverTrouble: 10,
  noAnswer: 11,
  /** The task, payment or order that the command waited for had another outcome. */
  workFailed: 12,
  waitOver: 13,
  interrupted: 130,
  terminated: 143,
} as const;

/** Returns the exit code for the HTTP status of an API error. */
export function exitCodeOfStatus(status: number): number {
  if (status >= 500) return exitCodes.serverTrouble;
  return exitCodesByStatus.get(status) ?? exitCodes.unforeseen;
}

const exitCodesByStatus: ReadonlyMap<number, number> = new Map([
  [400, exitCodes.inputRefused],
  [401, exitCodes.signInNeeded],
  [403, exitCodes.notAllowed],
  [404, exitCodes.notFound],
  [409, exitCodes.conflict],
  [410, exitCodes.notFound],
  [412, exitCodes.conflict],
  [413, exitCodes.inputRefused],
  [415, exitCodes.inputRefused],
  [422, exitCodes.inputRefused],
  [428, exitCodes.inputRefused],
  [429, exitCodes.rateLimited],
]);
