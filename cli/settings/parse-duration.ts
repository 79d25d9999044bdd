const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a duration such as `500ms`, `30s`, `5m`, `1h` or `7d` to milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = unitMs[unit];
  return count === undefined || factor === undefined ? undefined : Number(count) * factor;
}
