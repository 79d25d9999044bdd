import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { truncateToWidth, sanitizeForTerminal } from './sanitize-and-measure-terminal-text.ts';
import { formatDurationFromSeconds, type ProgressRate } from './progress-rate.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** The current state of an operation. */
export type ProgressState = {
  readonly label: string;
  /** Completed fraction from 0 to 1, if the total is known. */
  readonly fraction?: number | undefined;
  /** Progress, such as `40/100`. */
  readonly amount: string;
  /** Formatted rate, such as `1200 rows/s, 2m 5s left`. */
  readonly rate?: string | undefined;
  /** Status such as `running`. Without a terminal, each status change is printed on a separate line. */
  readonly state: string;
};

/** Formats a measured rate. Returns `undefined` if no rate is available yet. */
export const formatRateAndTimeLeft = (rate: ProgressRate | undefined, inUnits: (perSecond: number) => string): string | undefined =>
  rate && `${inUnits(rate.perSecond)}/s${rate.secondsLeft === undefined ? '' : `, ${formatDurationFromSeconds(rate.secondsLeft)} left`}`;

export type ProgressBar = { show(step: ProgressState): void; end(): void };

const barWidth = 20;
const redrawMs = 100;
const lineMs = 10_000;

/**
 * Shows progress on standard error: on a terminal, one line that is redrawn; otherwise, one line per state change and one every ten
 * seconds.
 */
export function createProgressBar(io: CliEnvironment, { quiet }: Settings): ProgressBar {
  const startedAt = Date.now();
  const { stderr } = io;
  let [shownAt, shownState, drawn] = [0, '', false];
  const seconds = (): string => `${Math.round((Date.now() - startedAt) / 1000)}s`;
  return {
    show: (step) => {
      const state = `${step.label} ${step.state}`;
      if (quiet || (state === shownState && Date.now() - shownAt < (stderr.isTTY ? redrawMs : lineMs))) return;
      [shownAt, shownState] = [Date.now(), state];
      if (!stderr.isTTY) return stderr.write(`${sanitizeForTerminal([state, step.amount, step.rate].filter(Boolean).join(' '))}\n`);
      drawn = true;
      const text = sanitizeForTerminal(
        [step.label, formatBar(step.fraction), step.amount, step.rate, seconds(), step.state].filter(Boolean).join(' '),
      );
      stderr.write(`\r\u001b[K${truncateToWidth(text, stderr.columns - 1)}`);
    },
    end: () => {
      if (drawn) stderr.write('\r\u001b[K');
      drawn = false;
    },
  };
}

function formatBar(fraction: number | undefined): string {
  if (fraction === undefined) return '';
  const full = Math.round(Math.min(1, fraction) * barWidth);
  return `[${'█'.repeat(full)}${'░'.repeat(barWidth - full)}] ${Math.floor(Math.min(1, fraction) * 100)}%`;
}

const units = ['B', 'kB', 'MB', 'GB'];

/** Formats a size, such as `1.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
