import { expect, test } from 'vitest';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { translateDeviceDescription } from '../../../server/oauth/pages/views/account/translate-device-description.ts';
import { describeUserAgent } from '../../../server/oauth/sessions/describe-user-agent.ts';

const chrome = (system: string): string => `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36`;
const windows = 'Windows NT 10.0; Win64; x64';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

test.each([
  ['Chrome on Windows', chrome(windows)],
  ['Chrome on ChromeOS', chrome('X11; CrOS x86_64 14541.0.0')],
  ['Chrome on Android', chrome('Linux; Android 14; Pixel 8')],
  ['Chrome on iPhone', `${iphone} CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1`],
  ['Edge on Windows', `${chrome(windows)} Edg/131.0.2903.70`],
  ['Edge on Windows', `${chrome(windows)} Edge/18.19045`],
  ['Edge on Android', `${chrome('Linux; Android 14')} EdgA/131.0.2903.48`],
  ['Edge on iPhone', `${iphone} EdgiOS/131.0.2903.68 Mobile/15E148 Safari/604.1`],
  ['Opera on Linux', `${chrome('X11; Linux x86_64')} OPR/115.0.0.0`],
  ['Firefox on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'],
  ['Firefox on iPhone', `${iphone} FxiOS/133.0 Mobile/15E148 Safari/604.1`],
  [
    'Safari on macOS',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  ],
  ['Safari on iPad', 'Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/604.1'],
  ['CompanyBrowser on Windows', `CompanyBrowser (${windows})`],
  ['Windows', `Mozilla/5.0 (${windows})`],
  ['Command line', 'curl/8.11.0'],
  ['Command line', 'node'],
  ['Command line', 'python-requests/2.32.3'],
  ['ParcelTracker', 'ParcelTracker/3.1 CFNetwork/1568.200.51'],
  ['ParcelTracker on Android', 'ParcelTracker/3.1 (Android 14)'],
  [null, 'evil.example/1.0'],
  [null, ''],
  [null, undefined],
])('the label is %s for %s', (label, userAgent) => {
  expect(describeUserAgent(userAgent)).toBe(label);
});

test.each([
  ['Firefox auf Linux', 'Firefox on Linux'],
  ['Befehlszeile', 'Command line'],
  ['ParcelTracker', 'ParcelTracker'],
])('the label is %s in German for %s', (label, device) => {
  const messages = bundledLanguages.match('de')?.messages ?? bundledLanguages.default.messages;
  expect(translateDeviceDescription({ messages }, device)).toBe(label);
});
