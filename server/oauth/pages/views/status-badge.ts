import { html, type Html } from '../../../http/response/html-template.ts';

/** Color of a badge: something is complete or works, something waits for a step, or neither. */
export type StatusKind = 'good' | 'waiting' | 'neutral';

/** Renders a status so that it can be found at a glance. The text contains the complete information; the color only repeats it. */
export const statusBadge = (text: string, kind: StatusKind): Html => html`<span class="badge ${kind}">${text}</span>`;
