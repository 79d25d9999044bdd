import type { PageSettings } from './page-layout-and-form-fields.ts';

/** Formats a timestamp for a page, in UTC. */
export const formatTimestamp = ({ messages }: PageSettings, at: Date): string =>
  new Intl.DateTimeFormat(messages.language.tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hour12: false }).format(at) +
  ' UTC';
