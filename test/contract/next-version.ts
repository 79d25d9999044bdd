import type { Change } from './compare.ts';

/** The version after `version` with these changes: additions grow the second number, words the third; `undefined` when there is none, because clients would break. */
export function nextVersion(version: string, changes: readonly Change[]): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (changes.some(({ impact }) => impact === 'major')) return undefined;
  if (changes.some(({ impact }) => impact === 'minor')) return `${major}.${minor + 1}.0`;
  return changes.length > 0 ? `${major}.${minor}.${patch + 1}` : version;
}
