import type { WebhookDeliveryDetails } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { mutations, queries } from '../../../api/client.ts';
import { IfPermitted, usePermissions } from '../../../api/permissions.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { JsonText } from '../json-text.tsx';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import { AttemptRequestAndResponse } from './attempt-request-and-response.tsx';
import { describeDeliveryAttempt } from './describe-delivery-attempt.ts';
import { WebhookDeliveryStatusBadge } from './endpoint-and-delivery-status-badges.tsx';
import classes from './delivery-dialog.module.css';

/** The server sends no events about attempts, so the delivery is refetched at intervals. */
const refetchIntervalMs = 5_000;

/** Shows the request and the responses of the delivery whose ID is in the URL. */
export function DeliveryDialog({ endpointId }: { readonly endpointId: number }): ReactNode {
  const t = useDevelopersTranslations();
  const [parameters, setParameters] = useSearchParams();
  const id = parameters.get('delivery');
  const { data: delivery, error } = useQuery({
    ...queries.webhooks.getDelivery(endpointId, id ?? ''),
    enabled: id !== null,
    refetchInterval: refetchIntervalMs,
  });
  const close = (): void =>
    setParameters((before) => {
      const next = new URLSearchParams(before);
      next.delete('delivery');
      return next;
    });
  return (
    <Dialog title={t('delivery.title', { id: id ?? '' })} isOpen={id !== null} onClose={close}>
      <ErrorNotice error={error} />
      {delivery ? <DeliveryContent endpointId={endpointId} delivery={delivery} /> : !error && <p>{t('loading')}</p>}
    </Dialog>
  );
}

type ContentProps = { readonly endpointId: number; readonly delivery: WebhookDeliveryDetails };

function DeliveryContent({ endpointId, delivery }: ContentProps): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const redeliver = useApiMutation(mutations.webhooks.redeliver(endpointId), {
    changes: ['webhooks'],
    doneMessage: t('delivery.redelivered'),
  });
  return (
    <div className={classes['content']}>
      <p className={classes['head']}>
        <WebhookDeliveryStatusBadge status={delivery.status} />
        <code>{delivery.event_type}</code>
        <span>{format.dateTime(delivery.created_at)}</span>
      </p>
      <section>
        <h3>{t('delivery.responses')}</h3>
        <Attempts delivery={delivery} />
      </section>
      <SentEvent eventId={delivery.event_id} />
      <ErrorNotice error={redeliver.error} />
      <IfPermitted operation="webhooks.redeliver">
        <Button loading={redeliver.isPending} onClick={() => redeliver.mutate({ event_id: delivery.event_id })}>
          {t('delivery.redeliver')}
        </Button>
      </IfPermitted>
    </div>
  );
}

function Attempts({ delivery }: Pick<ContentProps, 'delivery'>): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  if (delivery.attempts.length === 0) return <p className={classes['muted']}>{t('attempt.none')}</p>;
  return (
    <>
      <ol className={classes['attempts']}>
        {delivery.attempts.map((attempt, index) => (
          <li key={attempt.at} data-failed={attempt.error !== null}>
            <p className={classes['attempt']}>
              <strong>{describeDeliveryAttempt(attempt, t)}</strong>
              <span>{t('attempt.duration', { milliseconds: attempt.milliseconds })}</span>
              <span>{format.dateTime(attempt.at)}</span>
            </p>
            <AttemptRequestAndResponse number={index + 1} attempt={attempt} />
          </li>
        ))}
      </ol>
      {delivery.next_attempt_at !== null && (
        <p className={classes['muted']}>{t('attempt.next', { time: format.dateTime(delivery.next_attempt_at) })}</p>
      )}
    </>
  );
}

/** The body of the request, which is the event. */
function SentEvent({ eventId }: { readonly eventId: number }): ReactNode {
  const t = useDevelopersTranslations();
  const canRead = usePermissions().can('events.get');
  const { data: event, error } = useQuery({ ...queries.events.get(eventId), enabled: canRead });
  if (!canRead) return null;
  return (
    <section>
      <h3>{t('delivery.request')}</h3>
      {error ? <ErrorNotice error={error} /> : <JsonText label={t('delivery.request')} value={event} />}
    </section>
  );
}
