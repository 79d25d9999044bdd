import { describe, expect, test } from 'vitest';
import { html } from '../../../server/http/response/html-template.ts';
import { createPageSecurityHeaders } from '../../../server/oauth/pages/assets/page-security-headers.ts';
import { calculateContrastRatio, calculateEmailButtonColors, calculateThemeColors } from '../../../server/branding/theme-colors.ts';
import {
  buildStylesheet,
  stylesheetPathFromAccentColor,
  stylesheetPathPattern,
} from '../../../server/oauth/pages/assets/build-and-serve-page-stylesheet.ts';

describe('the colors that are calculated from an accent color', () => {
  const hues = ['#1d4ed8', '#7a1f1f', '#0b3d2e', '#ffd400', '#ff0000', '#00ff00', '#0000ff', '#ff00ff', '#00ffff'];
  const grays = ['#000000', '#1a1b21', '#555555', '#777777', '#999999', '#f7f7f8', '#ffffff'];

  test.each([...hues, ...grays])('%s is readable in light and dark mode', (accent) => {
    const { light, dark } = calculateThemeColors(accent);
    for (const [colors, backgrounds] of [
      [light, ['#ffffff', '#f7f7f8']],
      [dark, ['#1a1b21', '#111216']],
    ] as const) {
      expect(calculateContrastRatio(colors.button, colors.button_text)).toBeGreaterThanOrEqual(4.5);
      for (const background of backgrounds) {
        expect(calculateContrastRatio(colors.button, background)).toBeGreaterThanOrEqual(3);
        expect(calculateContrastRatio(colors.link, background)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  test.each([...hues, ...grays])('%s remains the background of the button in e-mails, which is readable', (accent) => {
    const { background, text, border } = calculateEmailButtonColors(accent);
    expect(background).toBe(accent);
    expect(calculateContrastRatio(background, text)).toBeGreaterThanOrEqual(4.5);
    expect(calculateContrastRatio(border, '#ffffff')).toBeGreaterThanOrEqual(3);
  });

  test('keep a color that has enough contrast', () => {
    expect(calculateThemeColors('#1d4ed8').light).toEqual({ button: '#1d4ed8', button_text: '#ffffff', link: '#1d4ed8' });
    expect(calculateContrastRatio('#000000', '#ffffff')).toBeCloseTo(21);
  });

  test('are part of the stylesheet, whose path depends on the accent color', () => {
    const { light, dark } = calculateThemeColors('#ffd400');
    for (const color of [...Object.values(light), ...Object.values(dark)]) expect(buildStylesheet('#ffd400')).toContain(color);
    expect(stylesheetPathFromAccentColor('#ffd400')).toMatch(stylesheetPathPattern);
    expect(stylesheetPathFromAccentColor('#ffd400')).not.toBe(stylesheetPathFromAccentColor('#1d4ed8'));
  });
});

test('the html template escapes every value except nested templates', () => {
  const name = `<img src=x onerror="alert('1')">&`;
  expect(html`<p title="${name}">${[name, html`<b>${name}</b>`, null, undefined, false, 0]}</p>`.toString()).toBe(
    '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">' +
      '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;<b>&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</b>0</p>',
  );
});

describe('form-action allows', () => {
  const formActionSources = (returnTo?: string): string | undefined =>
    /form-action (.*)$/.exec(createPageSecurityHeaders('https://shop.example', returnTo)['Content-Security-Policy'] ?? '')?.[1];

  test.each([
    [undefined, "'self'"],
    ['https://app.example/callback?x=1', "'self' https://app.example"],
    ['http://127.0.0.1:4711/callback', "'self' http://127.0.0.1:4711"],
    ['http://[::1]:4711/callback', "'self' http:"],
    ['com.example.app:/callback', "'self' com.example.app:"],
  ])('with the redirect URI %s: %s', (returnTo, sources) => {
    expect(formActionSources(returnTo)).toBe(sources);
  });
});
