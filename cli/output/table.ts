import { cutTo, padTo, widthOf } from '../terminal/safe-terminal-text.ts';

const gap = 2;
/** A column keeps this much when the table has to shrink. */
const columnWidthMin = 3;

type Table = {
  /** The name of the field in each column. */
  readonly names: readonly string[];
  /** Headings that are not the name of their field. */
  readonly headings: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly string[])[];
  /** Columns of the terminal. */
  readonly width: number;
  readonly bold: (text: string) => string;
  readonly paint: (name: string, text: string) => string;
};

/** Rows under upper-case headings, no wider than `width`: the widest columns give way first. Numbers are aligned to the right. */
export function table({ names, headings, rows, width, bold, paint }: Table): string {
  const titles = names.map((name) => (headings[name] ?? name.replaceAll(/[_.]/g, ' ')).toUpperCase());
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
        return painted ? padded.replace(cut, () => paint(names[column] ?? '', cut)) : padded;
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
