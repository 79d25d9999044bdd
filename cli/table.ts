import { cutTo, padTo, widthOf } from './plain-text.ts';

const gap = 2;
/** A column keeps this much when the table has to shrink. */
const columnWidthMin = 3;

/** Rows under upper-case heads, no wider than `width`: the widest columns give way first. Numbers stand on the right. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  bold: (text: string) => string,
  paint: (head: string, text: string) => string = (_, text) => text,
): string {
  const titles = heads.map((head) => head.replaceAll(/[_.]/g, ' ').toUpperCase());
  const widths = titles.map((title, column) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[column] ?? ''))));
  shrink(widths, width);
  const right = titles.map((_, column) => rows.length > 0 && rows.every((row) => /^(?:[^\d\s]{0,4}[\d.,]+|)$/.test(row[column] ?? '')));
  const line = (cells: readonly string[], painted = false): string =>
    cells
      .map((cell, column) => {
        const cut = cutTo(cell, widths[column] ?? 0);
        const padded = right[column]
          ? ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cut))) + cut
          : padTo(cut, widths[column] ?? 0);
        return painted ? padded.replace(cut, () => paint(heads[column] ?? '', cut)) : padded;
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [bold(line(titles)), ...rows.map((row) => line(row, true))].map((text) => `${text}\n`).join('');
}

function shrink(widths: number[], width: number): void {
  for (;;) {
    const total = widths.reduce((sum, one) => sum + one, 0) + gap * (widths.length - 1);
    const widest = Math.max(...widths);
    if (total <= width || widest <= columnWidthMin) return;
    widths[widths.indexOf(widest)] = Math.max(columnWidthMin, widest - Math.max(1, Math.min(total - width, widest - secondWidest(widths))));
  }
}

function secondWidest(widths: readonly number[]): number {
  const [first = 0, second = 0] = widths.toSorted((a, b) => b - a);
  return second === first ? first - 1 : second;
}
