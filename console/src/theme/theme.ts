import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core';

/** Shades of the primary color; white text on shades 7 to 9 has a contrast ratio of at least 5:1. */
const iris: MantineColorsTuple = [
  '#f0f0fd',
  '#dcdcf8',
  '#bcbcf1',
  '#9a9aeb',
  '#7e7ee4',
  '#6565d9',
  '#5656ce',
  '#4a4ac4',
  '#3f3fb0',
  '#35359a',
];

export const theme = createTheme({
  colors: { iris },
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  fontFamily: 'Inter, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '18px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Buttons that start destructive actions have the variant `danger`.
  variantColorResolver: (input) =>
    input.variant === 'danger'
      ? {
          background: 'var(--mantine-color-default)',
          hover: 'var(--critical-soft)',
          color: 'var(--critical)',
          border: '1px solid var(--critical)',
        }
      : defaultVariantColorsResolver(input),
});
