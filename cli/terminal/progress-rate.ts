/** How fast something goes, and how long it will take. */
export type Rate = { readonly perSecond: number; readonly secondsLeft: number | undefined };

/** Measurements older than this no longer count. */
const windowMs = 30_000;
const shortestMs = 1_000;

/**
 * Measures the rate of something that is counted now and then. Returns a function that takes the current amount and the total, and
 * returns `undefined` until there is enough to measure.
 */
export function rateMeter(now: () => number = Date.now): (done: number, total: number | undefined) => Rate | undefined {
  const samples: { readonly at: number; readonly done: number }[] = [];
  return (done, total) => {
    const at = now();
    samples.push({ at, done });
    while (samples[1] && at - samples[1].at > windowMs) samples.shift();
    const [first] = samples;
    if (!first || at - first.at < shortestMs || done <= first.done) return undefined;
    const perSecond = ((done - first.done) / (at - first.at)) * 1000;
    return { perSecond, secondsLeft: total === undefined ? undefined : Math.max(0, total - done) / perSecond };
  };
}

/** `2h 5m`, `3m 20s`, `45s`. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${whole % 60}s` : `${whole}s`;
}
