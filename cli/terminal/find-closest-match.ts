/** Returns the candidate with the smallest edit distance to `word`, unless half or more of the letters differ. */
export function findClosestMatch(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: levenshteinDistance(word, candidate) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best && best.distance < Math.max(word.length, best.candidate.length) / 2 ? best.candidate : undefined;
}

/** Returns the Levenshtein distance: the minimum number of letters to insert, delete or replace. */
function levenshteinDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
