import { ApiError } from '@mandate/client-sdk';
import { followEvents, type MandateEvent } from '@mandate/client-sdk/webhooks';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { apiClient, keyOf } from './client.ts';
import { usePermissions } from './permissions.tsx';

type Listener = (event: MandateEvent) => void;
type LiveEvents = {
  /** Whether the console is receiving events, so that the data on the page is up to date. */
  readonly isLive: boolean;
  /** Calls `listener` for each new event. Returns a function that removes the listener. */
  readonly subscribe: (listener: Listener) => () => void;
};

const LiveEventsContext = createContext<LiveEvents>({ isLive: false, subscribe: () => () => undefined });
export const useLiveEventsContext = (): LiveEvents => useContext(LiveEventsContext);

const reconnectDelayMs = 3_000;
/** A burst of events, for example from an import, triggers only one refresh. */
const refreshDelayMs = 300;

type Resource = Parameters<typeof keyOf>[0];
/** Resources to refetch after an event, by event subject. */
const resourcesBySubject: Readonly<Record<string, readonly Resource[]>> = {
  user: ['users', 'orders'],
  product: ['products', 'productCategories', 'stats'],
  order: ['orders', 'stats'],
  payment: ['payments', 'orders', 'stats'],
  refund: ['refunds', 'payments', 'orders', 'stats'],
  shipment: ['shipments', 'orders'],
  quote: ['quotes'],
  approval: ['approvals'],
  task: ['tasks', 'backups'],
  grant: ['connectedApps'],
  webhook_endpoint: ['webhooks'],
};

/** Follows the event feed while the page is open, and refetches data on the page when an event reports a change. */
export function LiveEventsAndRefetchProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const isPermitted = usePermissions().can('events.list');
  const queryClient = useQueryClient();
  const [isLive, setIsLive] = useState(false);
  const listeners = useMemo(() => new Set<Listener>(), []);
  useEffect(() => {
    if (!isPermitted) return undefined;
    const stop = new AbortController();
    const refresh = createRefresh(queryClient);
    const handleEvent = (event: MandateEvent): void => {
      refresh(event);
      listeners.forEach((listener) => listener(event));
    };
    const refreshAll = (): void => void queryClient.invalidateQueries({ queryKey: keyOf('orders').slice(0, 1) });
    void follow({ handleEvent, refreshAll, setIsLive }, stop.signal);
    return () => stop.abort();
  }, [isPermitted, queryClient, listeners]);
  const value = useMemo<LiveEvents>(() => {
    const subscribe = (listener: Listener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    return { isLive, subscribe };
  }, [isLive, listeners]);
  return <LiveEventsContext value={value}>{children}</LiveEventsContext>;
}

type FollowOptions = {
  readonly handleEvent: Listener;
  /** Called after an interruption, because events may have been missed and requests may have failed. */
  readonly refreshAll: () => void;
  readonly setIsLive: (isLive: boolean) => void;
};

/** Follows the events until `signal` is aborted, and reconnects after an interruption. */
async function follow({ handleEvent, refreshAll, setIsLive }: FollowOptions, signal: AbortSignal): Promise<void> {
  let after: number | undefined;
  let isInterrupted = false;
  while (!signal.aborted) {
    try {
      // The server responds to this request immediately, but to the requests of `followEvents` only when there are new events.
      const { latest_id: latest } = await apiClient.events.list({ limit: 1 }, { signal });
      after ??= latest;
      if (isInterrupted) refreshAll();
      setIsLive(true);
      for await (const event of followEvents(apiClient, { after, signal })) {
        after = event.id;
        handleEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      // The events that follow `after` are no longer stored.
      if (error instanceof ApiError && error.code === 'gone') after = undefined;
      isInterrupted = true;
      setIsLive(false);
      await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs));
    }
  }
}

function createRefresh(queryClient: QueryClient): Listener {
  const changed = new Set<Resource>();
  return ({ subject }) => {
    if (changed.size === 0)
      setTimeout(() => {
        for (const resource of changed) void queryClient.invalidateQueries({ queryKey: keyOf(resource) });
        changed.clear();
      }, refreshDelayMs);
    for (const resource of resourcesBySubject[subject.type] ?? []) changed.add(resource);
  };
}
