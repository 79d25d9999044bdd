import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type Stylesheet = { readonly path: string; readonly text: string };

const source = readFileSync(new URL('stylesheet.css', import.meta.url), 'utf8');

/** The stylesheet in the colour of the shop. Its path has its hash, so it can be kept for ever. */
export function stylesheet(accent: string): Stylesheet {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) throw new Error('the accent colour must be given as #rrggbb');
  if (contrast(accent, '#ffffff') < 4.5)
    throw new Error(`white text on the accent colour ${accent} cannot be read: its contrast is below 4.5:1`);
  const onDark = lightened(accent, '#1a1b21');
  const text = source
    .replace(/--accent: #[0-9a-f]{6}/, `--accent: ${accent}`)
    .replace(/--link: #[0-9a-f]{6}/, `--link: ${accent}`)
    .replace('--link: #93b4ff', `--link: ${onDark}`);
  return { path: `/assets/${createHash('sha256').update(text).digest('hex').slice(0, 16)}.css`, text };
}

const channels = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/** WCAG 2.2: relative luminance. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The colour with as much white as it takes to be read easily on a dark ground. */
function lightened(colour: string, ground: string): string {
  for (let white = 0; white <= 1; white += 0.05) {
    const mixed = channels(colour).map((channel) => Math.round(channel + (255 - channel) * white));
    const candidate = `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
    if (contrast(candidate, ground) >= 7) return candidate;
  }
  return '#ffffff';
}
