import { readFileSync } from 'node:fs';
import { assetPathWithContentHash } from '../../../http/response/hashed-asset-path.ts';

export type Stylesheet = { readonly path: string; readonly text: string };

const readStylesheet = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

const source = `${readStylesheet('base.css')}\n${readStylesheet('stylesheet.css')}`;

/** Builds the stylesheet with the shop's accent colour. */
export function buildStylesheet(accent: string): Stylesheet {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) throw new Error('the accent colour must be given as #rrggbb');
  if (calculateContrastRatio(accent, '#ffffff') < 4.5)
    throw new Error(`white text on the accent colour ${accent} is not readable: its contrast is below 4.5:1`);
  const onDark = lighten(accent, '#1a1b21');
  const text = source
    .replace(/--accent: #[0-9a-f]{6}/, `--accent: ${accent}`)
    .replace(/--link: #[0-9a-f]{6}/, `--link: ${accent}`)
    .replace('--link: #93b4ff', `--link: ${onDark}`);
  return { path: assetPathWithContentHash(text, 'css'), text };
}

const channels = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/** Returns the relative luminance of a colour (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio of two colours (WCAG 2.2). */
export function calculateContrastRatio(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Lightens the colour until its contrast with the background is at least 7:1. */
function lighten(colour: string, background: string): string {
  for (let whiteShare = 0; whiteShare <= 1; whiteShare += 0.05) {
    const mixed = channels(colour).map((channel) => Math.round(channel + (255 - channel) * whiteShare));
    const candidate = `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
    if (calculateContrastRatio(candidate, background) >= 7) return candidate;
  }
  return '#ffffff';
}
