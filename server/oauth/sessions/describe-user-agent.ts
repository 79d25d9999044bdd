const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPad)\b/, '$1'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac(intosh| OS X)\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

// The order matters, because most browsers include the names of other browsers.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

/** Returns a label such as `Firefox on Linux` that helps users recognize their devices, or null for an unknown User-Agent. */
export function describeUserAgent(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const [browser, system] = [findName(userAgent, browsers), findName(userAgent, systems)];
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? null;
}

function findName(userAgent: string, names: readonly (readonly [RegExp, string])[]): string | undefined {
  for (const [pattern, name] of names) {
    const found = pattern.exec(userAgent);
    if (found) return name.replace('$1', found[1] ?? '');
  }
  return undefined;
}
