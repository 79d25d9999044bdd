import { describe, expect, test } from 'vitest';
import { html } from '../../../server/http/response/html-template.ts';
import { createPageSecurityHeaders } from '../../../server/oauth/pages/assets/page-security-headers.ts';
import { calculateContrastRatio, buildStylesheet } from '../../../server/oauth/pages/assets/build-page-stylesheet.ts';

describe('the accent color', () => {
  test('must have enough contrast with white text', () => {
    expect(() => buildStylesheet('#ffd400')).toThrow('contrast is below 4.5:1');
    expect(() => buildStylesheet('red')).toThrow('#rrggbb');
    expect(calculateContrastRatio('#000000', '#ffffff')).toBeCloseTo(21);
  });

  test.each(['#1d4ed8', '#7a1f1f', '#0b3d2e', '#000000'])('%s is in the stylesheet, with a lighter variant for dark mode', (accent) => {
    const { text, path } = buildStylesheet(accent);
    const links = [...text.matchAll(/--link: (#[0-9a-f]{6})/g)].map(([, colour = '']) => colour);
    expect(text).toContain(`--accent: ${accent}`);
    expect(links[0]).toBe(accent);
    expect(calculateContrastRatio(links[1] ?? '', '#1a1b21')).toBeGreaterThanOrEqual(7);
    expect(path).not.toBe(buildStylesheet('#123456').path);
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
