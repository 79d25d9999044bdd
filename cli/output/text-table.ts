import { truncateToWidth, padToWidth, getDisplayWidth } from '../terminal/sanitize-and-measure-terminal-text.ts';

const gap = 2;
/** Minimum width of a column when the table is narrowed. */
const columnWidthMin = 3;

type Table = {
  /** The field name of each column. */
  readonly names: readonly string[];
  /** Column headings that differ from the field names. */
  readonly headings: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly string[])[];
  /** Width of the terminal, in columns. */
  readonly width: number;
  readonly bold: (text: string) => string;
  readonly paint: (name: string, text: string) => string;
};

/** Formats rows under uppercase headings. Narrows the widest columns first to fit `width`, and aligns numbers to the right. */
export function renderTextTable({ names, headings, rows, width, bold, paint }: Table): string {
  const titles = names.map((name) => (headings[name] ?? name.replaceAll(/[_.]/g, ' ')).toUpperCase());
  const widths = titles.map((title, column) => Math.max(getDisplayWidth(title), ...rows.map((row) => getDisplayWidth(row[column] ?? ''))));
  narrowColumns(widths, width);
  const isNumeric = titles.map((_, column) => rows.length > 0 && rows.every((row) => /^(?:[^\d\s]{0,4}[\d.,]+|)$/.test(row[column] ?? '')));
  const line = (cells: readonly string[], isRow = false): string =>
    cells
      .map((cell, column) => {
        const truncated = truncateToWidth(cell, widths[column] ?? 0);
        const padded = isNumeric[column]
          ? ' '.repeat(Math.max(0, (widths[column] ?? 0) - getDisplayWidth(truncated))) + truncated
          : padToWidth(truncated, widths[column] ?? 0);
        return isRow ? padded.replace(truncated, () => paint(names[column] ?? '', truncated)) : padded;
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [bold(line(titles)), ...rows.map((row) => line(row, true))].map((text) => `${text}\n`).join('');
}

function narrowColumns(widths: number[], width: number): void {
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
