import { createLazyGetter } from '../../memory/lazy-value.ts';

/** Reason why a password is easy to guess. */
export type WeakPasswordPattern = 'repeated' | 'sequence' | 'keyboard' | 'guessable';

// The libraries are loaded on demand, because loading them takes a tenth of a second and few requests set a password.
const estimators = createLazyGetter(async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  // Checking every combination of look-alike characters takes seconds for some inputs and would block the server.
  const options = { graphs: adjacencyGraphs, l33tMaxSubstitutions: 0 };
  return {
    patterns: new ZxcvbnFactory({ ...options, dictionary: {} }),
    words: new ZxcvbnFactory({ ...options, dictionary: { passwords: dictionary['passwords-common'] } }),
  };
});

// The estimation time grows with the square of the password length. If the beginning of a password is strong, the whole password is strong.
const analyzedLength = 100;

const patternKinds: Readonly<Record<string, WeakPasswordPattern>> = { repeat: 'repeated', sequence: 'sequence', spatial: 'keyboard' };

// Minimum numbers of guesses, as powers of ten. A password that consists entirely of patterns must be as hard to guess as twelve random
// digits.
const minimumGuesses = 8;
const minimumGuessesOfPatterns = 12;

/**
 * Returns why a password is easy to guess: it consists mostly of repeated characters, a character sequence, adjacent keys, or a very common
 * password with few additions. Returns undefined for every other password.
 */
export async function findGuessablePasswordPattern(password: string): Promise<WeakPasswordPattern | undefined> {
  const { patterns, words } = await estimators();
  const beginning = password.slice(0, analyzedLength);
  const { guessesLog10, sequence } = patterns.check(beginning);
  const parts = sequence.map(({ pattern, token }) => ({ kind: patternKinds[pattern], length: token.length }));
  const limit = parts.every(({ kind }) => kind !== undefined) ? minimumGuessesOfPatterns : minimumGuesses;
  if (guessesLog10 < limit) {
    const [largest] = parts.filter(({ kind }) => kind !== undefined).toSorted((one, other) => other.length - one.length);
    return largest?.kind ?? 'guessable';
  }
  return words.check(beginning).guessesLog10 < minimumGuesses ? 'guessable' : undefined;
}
