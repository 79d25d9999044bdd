import type { ContractChange } from './compare-documents.ts';

/** Returns the next version (minor for additions, patch for other compatible changes), or undefined if a change is breaking. */
export function nextVersion(version: string, changes: readonly ContractChange[]): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (changes.some(({ impact }) => impact === 'major')) return undefined;
  if (changes.some(({ impact }) => impact === 'minor')) return `${major}.${minor + 1}.0`;
  return changes.length > 0 ? `${major}.${minor}.${patch + 1}` : version;
}
