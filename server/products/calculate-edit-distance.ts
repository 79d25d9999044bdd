/** Returns the edit distance between two words, that is, the number of letters inserted, removed, replaced or swapped with a neighbor. */
export function calculateEditDistance(one: string, other: string): number {
  const [from, to] = [Array.from(one), Array.from(other)];
  let [beforePrevious, previous]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (const [row, letter] of from.entries()) {
    const current = [row + 1];
    for (const [column, target] of to.entries()) {
      const replaced = (previous[column] ?? 0) + (letter === target ? 0 : 1);
      const isExchanged = letter === to[column - 1] && from[row - 1] === target;
      const exchanged = isExchanged ? (beforePrevious[column - 1] ?? 0) + 1 : Infinity;
      current.push(Math.min((previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1, replaced, exchanged));
    }
    [beforePrevious, previous] = [previous, current];
  }
  return previous[to.length] ?? 0;
}
