/** A run of lines that occurs in two places. */
export type Duplicate = { readonly first: string; readonly second: string; readonly lines: number };

/** Minimum length of a reported run. Shorter runs, such as the same three arguments in a call, are not worth extracting into a function. */
export const minimumLines = 6;

/** Imports and re-exports may occur in several files, because each file must state what it uses. */
const importStatement = /^(?:import|export)\b[^;'"`]*?from '[^']*';$/gm;
const comment = /^\s*(?:\/\/.*|\/?\*.*)$/gm;
/** Lines without a letter or digit, such as `});`, are ignored, because almost every block contains them. */
const hasContent = /\w/;

type Line = { readonly file: string; readonly number: number; readonly text: string };

/** Returns the lines of a file that can be part of a duplicate. */
function readLines(file: string, source: string): Line[] {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, '');
  const code = source.replaceAll(importStatement, blank).replaceAll(comment, blank);
  return code.split('\n').flatMap((line, index) => (hasContent.test(line) ? [{ file, number: index + 1, text: line.trim() }] : []));
}

/**
 * Finds runs of at least `minimumLines` equal lines, ignoring indentation, imports, comments and lines without a letter or digit. A run
 * that occurs n times is reported n - 1 times, each time with its first occurrence.
 */
export function findDuplicates(sources: ReadonlyMap<string, string>): Duplicate[] {
  const files = [...sources].map(([file, source]) => readLines(file, source));
  const firstPlaces = new Map<string, readonly [file: number, line: number]>();
  const duplicates: Duplicate[] = [];
  for (const [file, lines] of files.entries()) {
    for (let start = 0; start + minimumLines <= lines.length; start += 1) {
      const run = windowText(lines, start);
      const place = firstPlaces.get(run);
      if (!place) firstPlaces.set(run, [file, start]);
      else {
        const length = countEqualLines(files[place[0]] ?? [], place[1], lines, start);
        if (length === 0) continue;
        duplicates.push({
          first: formatPlace(files[place[0]] ?? [], place[1], length),
          second: formatPlace(lines, start, length),
          lines: length,
        });
        start += length - 1;
      }
    }
  }
  return duplicates.toSorted((a, b) => b.lines - a.lines);
}

const windowText = (lines: readonly Line[], start: number): string =>
  lines
    .slice(start, start + minimumLines)
    .map(({ text }) => text)
    .join('\n');

/** Returns the number of consecutive equal lines from the two positions onwards, or 0 if there are fewer than `minimumLines`. */
function countEqualLines(first: readonly Line[], firstStart: number, second: readonly Line[], secondStart: number): number {
  const most = first === second ? secondStart - firstStart : Infinity;
  let length = 0;
  while (length < most && second[secondStart + length] && first[firstStart + length]?.text === second[secondStart + length]?.text)
    length += 1;
  return length < minimumLines ? 0 : length;
}

const formatPlace = (lines: readonly Line[], start: number, length: number): string =>
  `${lines[start]?.file}:${lines[start]?.number}-${lines[start + length - 1]?.number}`;
