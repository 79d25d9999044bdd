import type { Branding } from '@mandate/contract';

type ThemeColors = Branding['colors']['light'];

/**
 * Colors of the pages in light and dark mode, as in `base.css`. In each mode, buttons and links must have enough contrast with both
 * background colors.
 */
const pageColors = {
  light: { backgrounds: ['#ffffff', '#f7f7f8'], target: '#000000' },
  dark: { backgrounds: ['#1a1b21', '#111216'], target: '#ffffff' },
} as const;

const buttonTexts = { white: '#ffffff', black: '#000000' } as const;

/** Minimum contrast ratios of WCAG 2.2, for text (success criterion 1.4.3) and for the shapes of controls (success criterion 1.4.11). */
const minimumContrast = { text: 4.5, shape: 3 } as const;

/** Minimum contrast of links in dark mode, where saturated colors are harder to read than their contrast ratio suggests. */
const darkLinkContrast = 7;

/** Calculates readable button and link colors from an accent color, for light and dark mode. */
export const calculateThemeColors = (accent: string): Branding['colors'] => ({
  light: themeColors(accent, 'light', minimumContrast.text),
  dark: themeColors(accent, 'dark', darkLinkContrast),
});

/**
 * Light-mode colors for buttons in e-mails. Even a light accent color is used as the background, with dark text and a border that has
 * enough contrast to show the shape of the button.
 */
export const calculateEmailButtonColors = (
  accent: string,
): { readonly background: string; readonly text: string; readonly border: string } => ({
  background: accent,
  text: readableTextColor(accent),
  border: themeColors(accent, 'light', minimumContrast.text).button,
});

function themeColors(accent: string, mode: keyof typeof pageColors, linkContrast: number): ThemeColors {
  const { backgrounds, target } = pageColors[mode];
  const button = mixUntil(accent, target, (color) => contrastWithAll(color, backgrounds) >= minimumContrast.shape);
  const link = mixUntil(accent, target, (color) => contrastWithAll(color, backgrounds) >= linkContrast);
  return { button, button_text: readableTextColor(button), link };
}

/** Returns the text color for a background. Either white or black always has a contrast of at least 4.5:1. */
const readableTextColor = (background: string): string =>
  calculateContrastRatio(background, buttonTexts.white) >= minimumContrast.text ? buttonTexts.white : buttonTexts.black;

const contrastWithAll = (color: string, backgrounds: readonly string[]): number =>
  Math.min(...backgrounds.map((background) => calculateContrastRatio(color, background)));

/** Mixes the color with the target in steps of 5 % until the condition is met. */
function mixUntil(color: string, target: string, isReadable: (color: string) => boolean): string {
  for (let percent = 0; percent < 100; percent += 5) {
    const mixed = mix(color, target, percent / 100);
    if (isReadable(mixed)) return mixed;
  }
  return target;
}

function mix(color: string, target: string, share: number): string {
  const goal = channels(target);
  const mixed = channels(color).map((channel, index) => Math.round(channel + ((goal[index] ?? 0) - channel) * share));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

const channels = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** Returns the relative luminance of a color (WCAG 2.2). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio of two colors (WCAG 2.2). */
export function calculateContrastRatio(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}
