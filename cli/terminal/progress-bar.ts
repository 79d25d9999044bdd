import type { Io } from '../environment.ts';
import { cutTo, plainText } from './safe-terminal-text.ts';
import { durationText, type Rate } from './progress-rate.ts';
import type { Settings } from '../settings/settings.ts';

/** How far something is. */
export type Step = {
  readonly label: string;
  /** From 0 to 1, when it is known how much there is in all. */
  readonly fraction?: number | undefined;
  /** How much is done, or where it stands; a change of `state` is worth a line of its own. */
  readonly amount: string;
  /** `1200 rows/s, 2m 5s left`. */
  readonly rate?: string | undefined;
  readonly state: string;
};

/** A measured rate in words; `undefined` as long as there is none. */
export const rateText = (rate: Rate | undefined, inUnits: (perSecond: number) => string): string | undefined =>
  rate && `${inUnits(rate.perSecond)}/s${rate.secondsLeft === undefined ? '' : `, ${durationText(rate.secondsLeft)} left`}`;

export type Progress = { show(step: Step): void; end(): void };

const barWidth = 20;
const redrawMs = 100;
const lineMs = 10_000;

/** On a terminal one line that is drawn anew; elsewhere a line for every change of state, and one in ten seconds. */
export function progressOn(io: Io, { quiet }: Settings): Progress {
  const begun = Date.now();
  const { stderr } = io;
  let [shownAt, shownState, drawn] = [0, '', false];
  const seconds = (): string => `${Math.round((Date.now() - begun) / 1000)}s`;
  return {
    show: (step) => {
      const state = `${step.label} ${step.state}`;
      if (quiet || (state === shownState && Date.now() - shownAt < (stderr.isTTY ? redrawMs : lineMs))) return;
      [shownAt, shownState] = [Date.now(), state];
      if (!stderr.isTTY) return stderr.write(`${plainText([state, step.amount, step.rate].filter(Boolean).join(' '))}\n`);
      drawn = true;
      const text = plainText([step.label, bar(step.fraction), step.amount, step.rate, seconds(), step.state].filter(Boolean).join(' '));
      stderr.write(`\r\u001b[K${cutTo(text, stderr.columns - 1)}`);
    },
    end: () => {
      if (drawn) stderr.write('\r\u001b[K');
      drawn = false;
    },
  };
}

function bar(fraction: number | undefined): string {
  if (fraction === undefined) return '';
  const full = Math.round(Math.min(1, fraction) * barWidth);
  return `[${'█'.repeat(full)}${'░'.repeat(barWidth - full)}] ${Math.floor(Math.min(1, fraction) * 100)}%`;
}

const units = ['B', 'kB', 'MB', 'GB'];

/** `1.4 MB`. */
export function sizeOf(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
