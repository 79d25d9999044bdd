/** Exponent of Zipf's law: the most popular product is ordered twice as often as the second and three times as often as the third. */
const exponent = 1;

/** Returns a function that draws ranks from 1 to `count` by Zipf's law. */
export function createZipfSampler(count: number): () => number {
  const cumulative = new Float64Array(count);
  let sum = 0;
  for (let rank = 1; rank <= count; rank += 1) {
    sum += 1 / rank ** exponent;
    cumulative[rank - 1] = sum;
  }
  return () => {
    const drawn = Math.random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((cumulative[middle] ?? 0) > drawn) high = middle;
      else low = middle + 1;
    }
    return low + 1;
  };
}
