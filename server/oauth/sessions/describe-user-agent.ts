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

/** Label for command-line programs, and for the HTTP libraries that such programs use. */
export const commandLineLabel = 'Command line';
const commandLinePrograms = /^(aiohttp|axios|curl|go-http-client|got|httpie|httpx|libcurl|mandate|node|python|undici|wget)\b/i;

/**
 * Matches the program name in a User-Agent that does not imitate a browser. Names with a dot do not match, because they could look like
 * links in an e-mail.
 */
const programName = /^(?!Mozilla\b)([a-z][\w-]{0,39})(?=[/ ]|$)/i;

/**
 * Returns a label such as `Firefox on Linux` that helps users recognize their devices: the browser or program, and the operating system.
 * Returns null if the User-Agent is unknown.
 */
export function describeUserAgent(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  if (commandLinePrograms.test(userAgent)) return commandLineLabel;
  const program = findName(userAgent, browsers) ?? programName.exec(userAgent)?.[1];
  const system = findName(userAgent, systems);
  return program !== undefined && system !== undefined ? `${program} on ${system}` : (program ?? system ?? null);
}

function findName(userAgent: string, names: readonly (readonly [RegExp, string])[]): string | undefined {
  for (const [pattern, name] of names) {
    const found = pattern.exec(userAgent);
    if (found) return name.replace('$1', found[1] ?? '');
  }
  return undefined;
}
