import { lazily } from '../../memory/lazy-value.ts';

/** Why an estimate calls a password easy to guess. */
export type WeakPattern = 'repeated' | 'sequence' | 'keyboard' | 'guessable';

// It takes a tenth of a second to load, and few requests choose a password.
const estimators = lazily(async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  // Trying every combination of look-alike characters takes seconds for some inputs, which must not block a server.
  const options = { graphs: adjacencyGraphs, l33tMaxSubstitutions: 0 };
  return {
    patterns: new ZxcvbnFactory({ ...options, dictionary: {} }),
    words: new ZxcvbnFactory({ ...options, dictionary: { passwords: dictionary['passwords-common'] } }),
  };
});

// The time of an estimate grows with the square of the length. A strong beginning makes the whole password strong.
const analyzedLength = 100;

const patternKinds: Readonly<Record<string, WeakPattern>> = { repeat: 'repeated', sequence: 'sequence', spatial: 'keyboard' };

// Powers of ten. A password of which every part follows a pattern must be as hard to guess as twelve random digits.
const minimumGuesses = 8;
const minimumGuessesOfPatterns = 12;

/**
 * Returns why a password is easy to guess: it mostly consists of repeated characters, of sequential characters, of neighbouring
 * keys, or of very common passwords with few additions. Returns undefined for every other password.
 */
export async function findWeakPattern(password: string): Promise<WeakPattern | undefined> {
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
