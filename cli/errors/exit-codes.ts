export const exitCodes = {
  success: 0,
  unexpectedError: 1,
  /** Invalid command line, rejected before any request. */
  usage: 2,
  confirmationDeclined: 3,
  signInRequired: 4,
  notAllowed: 5,
  notFound: 6,
  conflict: 7,
  inputRejected: 8,
  rateLimited: 9,
  serverError: 10,
  noResponse: 11,
  /** The task, payment or order that the command was waiting for reached an unexpected final state. */
  otherOutcome: 12,
  waitTimeout: 13,
  interrupted: 130,
  terminated: 143,
} as const;

/** Returns the exit code for the HTTP status of an API error. */
export function exitCodeFromHttpStatus(status: number): number {
  if (status >= 500) return exitCodes.serverError;
  return exitCodesByStatus.get(status) ?? exitCodes.unexpectedError;
}

const exitCodesByStatus: ReadonlyMap<number, number> = new Map([
  [400, exitCodes.inputRejected],
  [401, exitCodes.signInRequired],
  [403, exitCodes.notAllowed],
  [404, exitCodes.notFound],
  [409, exitCodes.conflict],
  [410, exitCodes.notFound],
  [412, exitCodes.conflict],
  [413, exitCodes.inputRejected],
  [415, exitCodes.inputRejected],
  [422, exitCodes.inputRejected],
  [428, exitCodes.inputRejected],
  [429, exitCodes.rateLimited],
]);
