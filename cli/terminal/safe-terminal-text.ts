/** Text of others for a terminal: a control character could move the cursor, hide what follows or turn it around, so it is shown as U+FFFD. */
export const plainText = (text: string): string => text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');

/** JSON that a terminal shows and never obeys: what JSON.stringify leaves of the control characters is escaped as well. */
export const printableJson = (value: unknown, indentation?: number): string =>
  (JSON.stringify(value, null, indentation) ?? 'null').replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );

/** Made when it is needed: making it takes longer than most commands. */
let segmenter: Intl.Segmenter | undefined;
const segmentsOf = (text: string): string[] =>
  /^[ -~]*$/.test(text) ? Array.from(text) : Array.from((segmenter ??= new Intl.Segmenter()).segment(text), ({ segment }) => segment);

const wide =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;
const narrow = /^[\p{Mn}\p{Cf}]+$/u;

/** Columns that `text` takes on a terminal. */
export const widthOf = (text: string): number => segmentsOf(text).reduce((sum, segment) => sum + segmentWidth(segment), 0);

const segmentWidth = (segment: string): number => (narrow.test(segment) ? 0 : wide.test(segment) ? 2 : 1);

/** `text`, cut with an ellipsis where it is wider than `width`. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const segment of segmentsOf(text)) {
    used += segmentWidth(segment);
    if (used > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));
