import { describe, expect, test } from 'vitest';
import { html, Html } from '../../../server/http/response/html-template.ts';
import { preventBreakAfterHyphenInEmailWord } from '../../../server/http/response/prevent-break-after-hyphen-in-email-word.ts';
import { createPageSecurityHeaders } from '../../../server/oauth/pages/assets/page-security-headers.ts';
import { calculateContrastRatio, calculateEmailButtonColors, calculateThemeColors } from '../../../server/branding/theme-colors.ts';
import { emphasizeValue } from '../../../server/oauth/pages/views/page-layout-and-form-fields.ts';
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

describe('the stylesheet', () => {
  const stylesheet = buildStylesheet('#1d4ed8');
  const rules = stylesheet.replaceAll(/\/\*.*?\*\//gs, '');
  /** Returns the declarations of the first rule that has exactly these selectors. */
  const findRule = (selectors: string): string => rules.split(`\n${selectors} {`)[1]?.split('}')[0]?.replaceAll(/\s+/g, ' ').trim() ?? '';

  test.each(['light', 'dark'] as const)('gives placeholders enough contrast in %s mode', (mode) => {
    expect(findRule('::placeholder')).toBe('color: var(--quiet); opacity: 1;');
    const [light = '', dark = ''] = rules.split('@media (prefers-color-scheme: dark)');
    const readColor = (name: string): string =>
      new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(mode === 'light' ? light : dark)?.[1] ?? `no color ${name}`;
    expect(calculateContrastRatio(readColor('quiet'), readColor('card'))).toBeGreaterThanOrEqual(4.5);
  });

  test('gives buttons for irreversible changes a red border', () => {
    expect(findRule('button.danger.second')).toBe('color: var(--danger); background: transparent; border-color: currentcolor;');
  });

  test('balances the lines of headings and buttons', () => {
    expect(findRule('h1,\nh2,\nbutton,\na.button,\nsummary')).toBe('text-wrap: balance;');
  });
});

describe('browsers do not break', () => {
  const keep = (text: string): string =>
    preventBreakAfterHyphenInEmailWord(html`<p title="An e-mail">${text}</p>`, html`class="unbroken"`).toString();

  test.each([
    ['Check your e-mail.', 'Check your <span class="unbroken">e-mail</span>.'],
    ['Ihre E-Mail-Adresse', 'Ihre <span class="unbroken">E-Mail</span>-Adresse'],
    ['Bestätigungs-E-Mails', 'Bestätigungs-<span class="unbroken">E-Mails</span>'],
    ['l’adresse e-mail (l’e-mail)', 'l’adresse <span class="unbroken">e-mail</span> (l’<span class="unbroken">e-mail</span>)'],
  ])('the word “e-mail” in the text “%s”', (text, expected) => {
    expect(keep(text)).toBe(`<p title="An e-mail">${expected}</p>`);
  });

  test.each(['my.e-mail@example.com', 'https://shop.example/e-mail', 'e-mail.shop.example', 'e-mailing'])(
    'anything in “%s”, which stays unchanged',
    (text) => expect(keep(text)).toBe(`<p title="An e-mail">${text}</p>`),
  );

  test.each(['title', 'style', 'script', 'textarea', 'option'])('anything in a %s element, which stays unchanged', (name) => {
    const page = new Html(`<${name} class="x">an e-mail,\nan e-mail</${name}>`);
    expect(preventBreakAfterHyphenInEmailWord(page, html`class="unbroken"`).toString()).toBe(page.toString());
  });

  test('an emphasized e-mail address at any letter', () => {
    expect(emphasizeValue('Sent to <b> a.b@shop.example.', 'a.b@shop.example').toString()).toBe(
      'Sent to &lt;b&gt; <strong class="address">a.b@<wbr />shop<wbr />.example</strong>.',
    );
  });
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
