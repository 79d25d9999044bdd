/** Measured rate per second and estimated remaining time. */
export type ProgressRate = { readonly perSecond: number; readonly secondsLeft: number | undefined };

/** Period over which the rate is measured; older samples are ignored. */
const windowMs = 30_000;
const minElapsedMs = 1_000;

/**
 * Creates a function that takes the current amount and the total and returns the rate, measured over the last 30 seconds. The function
 * returns `undefined` until there are enough samples.
 */
export function createProgressRateMeter(
  now: () => number = Date.now,
): (done: number, total: number | undefined) => ProgressRate | undefined {
  const samples: { readonly at: number; readonly done: number }[] = [];
  return (done, total) => {
    const at = now();
    samples.push({ at, done });
    while (samples[1] && at - samples[1].at > windowMs) samples.shift();
    const [first] = samples;
    if (!first || at - first.at < minElapsedMs || done <= first.done) return undefined;
    const perSecond = ((done - first.done) / (at - first.at)) * 1000;
    return { perSecond, secondsLeft: total === undefined ? undefined : Math.max(0, total - done) / perSecond };
  };
}

/** Formats a duration, such as `2h 5m`, `3m 20s` or `45s`. */
export function formatDurationFromSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${whole % 60}s` : `${whole}s`;
}
