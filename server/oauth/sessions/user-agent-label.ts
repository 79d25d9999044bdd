const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPad)\b/, '$1'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac(intosh| OS X)\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

// Most browsers name others too, so the order matters.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

/** `Firefox on Linux`: how people tell their devices apart. Null when the browser gives no hint. */
export function deviceName(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const [browser, system] = [nameIn(userAgent, browsers), nameIn(userAgent, systems)];
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? null;
}

function nameIn(userAgent: string, names: readonly (readonly [RegExp, string])[]): string | undefined {
  for (const [pattern, name] of names) {
    const found = pattern.exec(userAgent);
    if (found) return name.replace('$1', found[1] ?? '');
  }
  return undefined;
}
