import { escapeXml } from './escape-xml.ts';
import { terminalColumns, type RecordedCommand } from './record-commands.ts';

/** Selects the lines of a command's output that the picture shows. A line with `…` replaces the remaining lines. */
const shownLines: readonly (readonly [command: RegExp, isShown: (line: string, at: number) => boolean])[] = [
  [/ login$/, (line) => !line.startsWith('http')],
  [/ products list$/, (_line, at) => at < 6],
  [/ orders create /, (line) => /^(id|status|total|LINE| +1|Pay) /.test(line)],
  [/ orders pay /, (line) => /^(Pay|status|amount)\b/.test(line)],
];

type Span = { readonly text: string; readonly style: string };

const [lineHeight, characterWidth, margin, titleBar] = [19, 7.85, 20, 34];

/** Draws recorded commands as an SVG image of a terminal window. */
export function drawTerminal(recorded: readonly RecordedCommand[]): string {
  const lines = recorded.flatMap(({ command, output }, at): Span[][] => [
    ...(at === 0 ? [] : [[]]),
    ...wrapCommand(command),
    ...abbreviate(command, toLines(output)).map(parseStyles),
  ]);
  const [width, height] = [Math.ceil(terminalColumns * characterWidth) + 2 * margin, titleBar + lines.length * lineHeight + 2 * margin];
  const text = lines.map((spans, at) => drawLine(spans, titleBar + margin + (at + 0.75) * lineHeight)).filter((line) => line !== '');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    '<title id="title">A terminal in which a customer signs in, lists products, places and pays for an order, and lists orders</title>',
    '<style>text{font:13px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde5;white-space:pre}.bold{font-weight:700}.green{fill:#7ddc8f}.prompt{fill:#8fb8ff}.dim{fill:#9aa5b1}</style>',
    `<rect width="${width}" height="${height}" rx="10" fill="#171c24"/>`,
    `<rect width="${width}" height="${titleBar}" rx="10" fill="#252c37"/>`,
    ...['#ff6159', '#ffbd2e', '#28c941'].map((color, at) => `<circle cx="${20 + at * 20}" cy="${titleBar / 2}" r="6" fill="${color}"/>`),
    ...text,
    '</svg>',
    '',
  ].join('\n');
}

/** Splits a long command at a space into two lines, and ends the first line with a backslash, as in a shell. */
function wrapCommand(command: string): Span[][] {
  const at = command.length > terminalColumns - 2 ? command.lastIndexOf(' ', terminalColumns - 6) : -1;
  const parts = at === -1 ? [command] : [`${command.slice(0, at)} \\`, command.slice(at + 1)];
  return parts.map((text, part) => [
    { text: part === 0 ? '$ ' : '    ', style: 'prompt' },
    { text, style: 'bold' },
  ]);
}

const escapeCharacter = '\u001B';

/** Returns the output's visible lines, including their color codes. */
const toLines = (output: string): string[] =>
  output
    .replaceAll(new RegExp(`[\\\\|/-]${escapeCharacter}\\[1G${escapeCharacter}\\[0K`, 'g'), '') // npm's spinner
    .split(/\r*\n/)
    .filter((line) => line.trim() !== '');

function abbreviate(command: string, lines: readonly string[]): string[] {
  const isShown = shownLines.find(([pattern]) => pattern.test(command))?.[1] ?? (() => true);
  const visible = lines.map((line, at) => (isShown(stripStyles(line), at) ? line : '…'));
  return visible.filter((line, at) => line !== '…' || visible[at - 1] !== '…');
}

const stripStyles = (line: string): string => line.replaceAll(new RegExp(`${escapeCharacter}\\[\\d+m`, 'g'), '');

const stylesByCode: Readonly<Record<string, string>> = { 1: 'bold', 2: 'dim', 32: 'green' };

/** Splits a line at its escape sequences, and truncates it to the width of the terminal. */
function parseStyles(line: string): Span[] {
  const [first = '', ...rest] = line.split(new RegExp(`${escapeCharacter}\\[(\\d+)m`));
  const spans = [{ text: first, style: line === '…' ? 'dim' : '' }];
  for (let at = 0; at < rest.length; at += 2) spans.push({ text: rest[at + 1] ?? '', style: stylesByCode[rest[at] ?? ''] ?? '' });
  let left = terminalColumns;
  return spans.map(({ text, style }) => {
    const cut = text.length > left ? `${text.slice(0, Math.max(0, left - 1))}…` : text;
    left -= cut.length;
    return { text: cut, style };
  });
}

function drawLine(spans: readonly Span[], y: number): string {
  const parts = spans.flatMap(({ text, style }) =>
    text === '' ? [] : [style === '' ? escapeXml(text) : `<tspan class="${style}">${escapeXml(text)}</tspan>`],
  );
  return parts.length === 0 ? '' : `<text x="${margin}" y="${y}" xml:space="preserve">${parts.join('')}</text>`;
}
