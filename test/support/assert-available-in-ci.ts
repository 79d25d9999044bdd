/**
 * Returns whether a program that tests need is available. Without the program, the tests are skipped on a developer's machine but fail in
 * CI, where skipped tests would go unnoticed.
 * @param environment environment variables; the function reads only `CI`
 */
export function assertAvailableInCi(
  program: string,
  isAvailable: boolean,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (isAvailable || !environment['CI']) return isAvailable;
  throw new Error(`${program} is not installed. In CI, this is an error, because tests that need ${program} would be skipped.`);
}
