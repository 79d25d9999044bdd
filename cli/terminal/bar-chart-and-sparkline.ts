import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { getDisplayWidth, padToWidth, truncateToWidth } from './sanitize-and-measure-terminal-text.ts';

/** Chart characters: `parts` fill 0 to 7 eighths of a column, `full` fills a column, and `levels` form sparklines, from low to high. */
type ChartCharacters = { readonly parts: readonly string[]; readonly full: string; readonly levels: readonly string[] };

const unicode: ChartCharacters = {
  parts: ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'],
  full: '█',
  levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
};
const ascii: ChartCharacters = { parts: [''], full: '#', levels: ['_', '.', '-', '=', '+', '*', '%', '#'] };

/** Returns the set of characters that the terminal can show, according to the locale. */
export function chooseChartCharacters({ env, platform }: CliEnvironment): ChartCharacters {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const isWindowsTerminal = platform === 'win32' && Boolean(env['WT_SESSION']);
  return /utf-?8/i.test(locale) || isWindowsTerminal ? unicode : ascii;
}

/** Draws one character for each value. The tallest character represents the highest value, and the shortest character represents 0. */
export function renderSparkline(values: readonly number[], { levels }: ChartCharacters): string {
  const highest = Math.max(0, ...values);
  const levelOf = (value: number): number => (highest === 0 ? 0 : Math.ceil((Math.max(0, value) / highest) * (levels.length - 1)));
  return values.map((value) => levels[levelOf(value)]).join('');
}

export type ChartRow = { readonly label: string; readonly value: number; readonly text: string };

/** Draws a horizontal bar for each row, between its label and its text. Negative values have no bar. */
export function renderBarChart(rows: readonly ChartRow[], characters: ChartCharacters, width: number): string {
  const labelWidth = Math.min(30, getWidestTextWidth(rows.map(({ label }) => label)));
  const textWidth = getWidestTextWidth(rows.map(({ text }) => text));
  const barWidth = Math.max(8, Math.min(60, width - labelWidth - textWidth - 4));
  const highest = Math.max(0, ...rows.map(({ value }) => value));
  return rows
    .map(({ label, value, text }) => {
      const bar = highest === 0 ? '' : renderBar((Math.max(0, value) / highest) * barWidth, characters);
      const padding = ' '.repeat(textWidth - getDisplayWidth(text));
      return `${padToWidth(truncateToWidth(label, labelWidth), labelWidth)}  ${padToWidth(bar, barWidth)}  ${padding}${text}\n`;
    })
    .join('');
}

function renderBar(columns: number, { parts, full }: ChartCharacters): string {
  const steps = Math.round(columns * parts.length);
  // At least one eighth is drawn, so that every nonzero value is visible.
  const visible = columns > 0 ? Math.max(1, steps) : 0;
  return full.repeat(Math.floor(visible / parts.length)) + (parts[visible % parts.length] ?? '');
}

const getWidestTextWidth = (texts: readonly string[]): number => Math.max(0, ...texts.map(getDisplayWidth));
