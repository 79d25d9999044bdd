import { iterateEvents, type MandateEvent } from '@mandate/client-sdk/webhooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { apiClient, keyOf } from '../../../api/client.ts';
import { useLiveEventsContext } from '../../../api/live-events.tsx';
import { eventTypeFilterFromSubject } from '../event-types-and-subjects.ts';

/** Number of event IDs between the start of the stream and the latest event. */
const initialIdCount = 500;
/** Maximum number of events on the page. */
const maxEvents = 200;

type EventStream = { readonly events: readonly MandateEvent[]; readonly isPending: boolean; readonly error: unknown };

/** Returns the newest events about a subject, or about all subjects, newest first. New events are added unless `isPaused` is true. */
export function useNewestAndLiveEvents(subject: string | undefined, isPaused: boolean): EventStream {
  const { subscribe } = useLiveEventsContext();
  const [newEvents, setNewEvents] = useState<readonly MandateEvent[]>([]);
  const {
    data: initial = [],
    isPending,
    error,
  } = useQuery({
    queryKey: [...keyOf('events'), 'stream', subject],
    queryFn: ({ signal }) => readNewestEvents(subject, signal),
    gcTime: 0,
    staleTime: 0,
  });
  useEffect(
    () => (isPaused ? undefined : subscribe((event) => setNewEvents((events) => [event, ...events].slice(0, maxEvents)))),
    [subscribe, isPaused],
  );
  const matching = newEvents.filter(({ subject: { type } }) => subject === undefined || type === subject);
  // An event can be in both lists if it occurred while the first list was loading.
  const known = new Set(matching.map(({ id }) => id));
  return { events: [...matching, ...initial.filter(({ id }) => !known.has(id))].slice(0, maxEvents), isPending, error };
}

async function readNewestEvents(subject: string | undefined, signal: AbortSignal): Promise<MandateEvent[]> {
  const filter = subject === undefined ? undefined : eventTypeFilterFromSubject(subject);
  const { latest_id: latest } = await apiClient.events.list({ limit: 1 }, { signal });
  const events: MandateEvent[] = [];
  const after = Math.max(0, latest - initialIdCount);
  for await (const event of iterateEvents(apiClient, { after, signal, ...(filter && { type: [filter] }) })) events.unshift(event);
  return events.filter(({ subject: { type } }) => subject === undefined || type === subject).slice(0, maxEvents);
}
