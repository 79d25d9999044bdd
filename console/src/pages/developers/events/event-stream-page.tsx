import type { MandateEvent } from '@mandate/client-sdk/webhooks';
import { Button, NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { useLiveEventsContext } from '../../../api/live-events.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { StatusBadge } from '../../../components/feedback/status-badge.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { DevelopersHeader } from '../developers-header.tsx';
import { eventSubjects } from '../event-types-and-subjects.ts';
import { JsonText } from '../json-text.tsx';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import { useNewestAndLiveEvents } from './use-newest-and-live-events.ts';
import classes from './event-stream.module.css';

/** Shows the newest events, and adds new events as they occur. */
export function EventStreamPage(): ReactNode {
  const t = useDevelopersTranslations();
  const [isPaused, setIsPaused] = useState(false);
  const [parameters] = useSearchParams();
  const subject = parameters.get('subject') ?? undefined;
  const { events, isPending, error } = useNewestAndLiveEvents(subject, isPaused);
  const pause = (
    <Button variant="default" onClick={() => setIsPaused(!isPaused)}>
      {t(isPaused ? 'event.resume' : 'event.pause')}
    </Button>
  );
  return (
    <>
      <DevelopersHeader actions={pause} />
      <div className={classes['toolbar']}>
        <SubjectFilter />
        <StreamStatus isPaused={isPaused} />
      </div>
      <ErrorNotice error={error} />
      {isPending && <PageSkeleton />}
      {!isPending && events.length === 0 && <EmptyState title={t('event.none')} text={t('event.noneAbout')} />}
      <div role="log" aria-label={t('section.events')} className={classes['events']}>
        {events.map((event) => (
          <EventEntry key={event.id} event={event} />
        ))}
      </div>
    </>
  );
}

function SubjectFilter(): ReactNode {
  const t = useDevelopersTranslations();
  const [parameters, setParameters] = useSearchParams();
  return (
    <NativeSelect
      aria-label={t('event.filter')}
      value={parameters.get('subject') ?? ''}
      data={[{ value: '', label: t('event.all') }, ...eventSubjects.map((subject) => ({ value: subject, label: `${subject}.*` }))]}
      onChange={({ currentTarget: { value } }) => setParameters(value === '' ? {} : { subject: value }, { replace: true })}
    />
  );
}

function StreamStatus({ isPaused }: { readonly isPaused: boolean }): ReactNode {
  const t = useDevelopersTranslations();
  const { isLive } = useLiveEventsContext();
  if (isPaused) return <StatusBadge tone="neutral">{t('event.paused')}</StatusBadge>;
  return <StatusBadge tone={isLive ? 'positive' : 'warning'}>{t(isLive ? 'event.live' : 'event.notLive')}</StatusBadge>;
}

function EventEntry({ event }: { readonly event: MandateEvent }): ReactNode {
  const format = useFormat();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className={classes['event']} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <span className={classes['id']}>{event.id}</span>
        <strong>{event.type}</strong>
        <span className={classes['subject']}>
          {event.subject.type} {event.subject.id}
        </span>
        <time dateTime={event.timestamp}>{format.dateTime(event.timestamp)}</time>
      </summary>
      {isOpen && <JsonText label={`${event.type} ${event.id}`} value={event} />}
    </details>
  );
}
