import { html, type Html } from '../../../http/response/html-template.ts';

/**
 * Determines the color of a badge: `good` for something that is complete or works, `waiting` for something that requires an action, and
 * `neutral` for everything else.
 */
export type StatusKind = 'good' | 'waiting' | 'neutral';

/** Renders a status so that users can see it at a glance. The color only repeats information that the text contains. */
export const statusBadge = (text: string, kind: StatusKind): Html => html`<span class="badge ${kind}">${text}</span>`;
