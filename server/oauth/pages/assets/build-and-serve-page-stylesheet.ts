import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { calculateThemeColors } from '../../../branding/theme-colors.ts';
import { sha256 } from '../../../crypto/sha256.ts';

const readStylesheet = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

const source = `${readStylesheet('base.css')}\n${readStylesheet('stylesheet.css')}`;
const sourceHash = sha256(`${source}${buildColorRules('#000000')}`, 'hex').slice(0, 16);

/**
 * Path pattern of the stylesheets, for Express. A path contains the accent color and a hash of the rules, so that every process can build
 * any stylesheet.
 */
export const stylesheetPathPattern = new RegExp(`^/assets/${sourceHash}-([0-9a-f]{6})\\.css$`);

/** Returns the path of the stylesheet for an accent color in the form `#rrggbb`. */
export const stylesheetPathFromAccentColor = (accent: string): string => `/assets/${sourceHash}-${accent.slice(1)}.css`;

/** Builds the stylesheet for an accent color. */
export const buildStylesheet = (accent: string): string => `${source}\n${buildColorRules(accent)}`;

/** Returns the rules that replace the default colors, in light and dark mode. */
function buildColorRules(accent: string): string {
  const { light, dark } = calculateThemeColors(accent);
  const rule = ({ button, button_text: text, link }: typeof light): string =>
    `:root { --accent: ${button}; --accent-text: ${text}; --link: ${link}; }`;
  return `${rule(light)}\n@media (prefers-color-scheme: dark) {\n  ${rule(dark)}\n}\n`;
}

/**
 * Serves the stylesheet for the accent color in the path. Caches can store the stylesheet indefinitely, because the path determines the
 * content.
 */
export const serveStylesheet: RequestHandler<Record<string, string>> = ({ params }, res) => {
  res.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' });
  res.type('css').send(buildStylesheet(`#${params[0] ?? '000000'}`));
};
