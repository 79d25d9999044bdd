/** Makes untrusted text safe for a terminal: replaces control characters, which could move the cursor or hide text, with U+FFFD. */
export const sanitizeForTerminal = (text: string): string => text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');

/** Serializes a value as JSON for a terminal. Escapes all control characters, including those that JSON.stringify leaves unescaped. */
export const serializeJsonForTerminal = (value: unknown, indentation?: number): string =>
  (JSON.stringify(value, null, indentation) ?? 'null').replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );

/** Created on first use, because creating an `Intl.Segmenter` takes longer than running most commands. */
let segmenter: Intl.Segmenter | undefined;
const splitGraphemes = (text: string): string[] =>
  /^[ -~]*$/.test(text) ? Array.from(text) : Array.from((segmenter ??= new Intl.Segmenter()).segment(text), ({ segment }) => segment);

const wideGrapheme =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;
const zeroWidthGrapheme = /^[\p{Mn}\p{Cf}]+$/u;

/** Returns the number of terminal columns that the text occupies. */
export const getDisplayWidth = (text: string): number => splitGraphemes(text).reduce((sum, segment) => sum + graphemeWidth(segment), 0);

const graphemeWidth = (segment: string): number => (zeroWidthGrapheme.test(segment) ? 0 : wideGrapheme.test(segment) ? 2 : 1);

/** Truncates text that is wider than `width`, and adds an ellipsis. */
export function truncateToWidth(text: string, width: number): string {
  if (getDisplayWidth(text) <= width) return text;
  let truncated = '';
  let used = 0;
  for (const segment of splitGraphemes(text)) {
    used += graphemeWidth(segment);
    if (used > width - 1) break;
    truncated += segment;
  }
  return `${truncated}…`;
}

export const padToWidth = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - getDisplayWidth(text)));
