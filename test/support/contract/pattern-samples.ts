/** Samples that match a pattern in the OpenAPI document, and similar samples that do not match it. */
const samples = [
  ['ann@example.com', 'ann p@example.com', 'a\u0007b@example.com', '[ann]@example.com', 'pc{}@example.com', 'ann@example'],
  ['collection', 'Collection', 'GBP', 'gbp', 'GB', 'Z', '+02:00', '+15:00', '2026-11-20', '2026-13-01', '2026-11', '1'],
  ['Europe/London', 'example.csv', 'my-client_2', '#2f6f4f', '#2F6F4F', '#fff', 'tok_1:a.b', 'SKU 1', ' SKU', 'de', 'pt-BR', 'x'],
  ['evt_7', 'https://shop.example/help?topic=1#orders', 'https://user@shop.example', 'https://a b', 'data:image/png;base64,iVBORw0='],
  ['https://', `https://${'x'.repeat(1992)}`, `https://${'x'.repeat(1993)}`, 'office-supplies', 'a--b'],
].flat();

/** Returns a string with one digit per sample: `1` if the pattern matches the sample in JavaScript, otherwise `0`. */
export const matchSamples = (pattern: string): string => samples.map((sample) => (new RegExp(pattern).test(sample) ? '1' : '0')).join('');

const encode = (texts: readonly string[]): string => texts.map((text) => Buffer.from(text).toString('base64')).join(' ');

/**
 * Returns the input for the `compile_patterns` programs. For each pattern, these programs print a result in the format of `matchSamples`.
 */
export const formatPatternsInput = (patterns: readonly string[]): string => `${encode(patterns)}\n${encode(samples)}`;

/**
 * Returns the patterns for which the result of a `compile_patterns` program differs from the JavaScript result, each with the differing
 * result.
 */
export function findPatternDifferences(patterns: readonly string[], output: string): string[] {
  const results = output.trimEnd().split('\n');
  return patterns.flatMap((pattern, index) =>
    results[index] === matchSamples(pattern) ? [] : [`${pattern}: ${results[index] ?? 'no result'}`],
  );
}
