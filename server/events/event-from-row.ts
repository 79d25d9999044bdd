import type { Event } from '@mandate/contract';
import { timestampToRfc3339 } from '../database/time/timestamp-to-rfc3339.ts';

export type EventRow = {
  seq: number;
  type: string;
  api_version: string;
  user_id: number | null;
  subject_type: string;
  subject_id: number;
  subject_version: number | null;
  data: Record<string, unknown>;
  created_at: string;
};

const columns = ['seq', 'type', 'api_version', 'user_id', 'subject_type', 'subject_id', 'subject_version', 'data', 'created_at'];

/** Event columns; the table alias is `v`. */
export const eventColumnsSql = columns.map((name) => `v.${name}`).join(', ');

/** Returns an event's representation in API responses and webhooks. */
export const eventFromRow = (row: EventRow): Event => ({
  id: row.seq,
  type: row.type,
  api_version: row.api_version,
  timestamp: timestampToRfc3339(row.created_at),
  user_id: row.user_id,
  subject: { type: row.subject_type, id: row.subject_id, version: row.subject_version },
  data: { object: row.data },
});
