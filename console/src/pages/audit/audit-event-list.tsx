import type { AuditEvent } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { queries } from '../../api/client.ts';
import { ListToolbar } from '../../components/lists/list-toolbar.tsx';
import { pageSize, ResourceList, type Column } from '../../components/lists/resource-list.tsx';
import { StatusBadge } from '../../components/feedback/status-badge.tsx';
import { useFormat, type Format } from '../../languages/use-format.ts';
import { AuditEventDialog } from './audit-event-dialog.tsx';
import { AuditFilterFields, useAuditQueryFromUrl } from './audit-filters.tsx';
import { useAuditTranslations, type AuditTranslate } from './use-audit-translations.ts';
import { useUserAndApplicationNameLookups, type UserAndApplicationNames } from './use-user-and-application-name-lookups.ts';

/** List of audit events: actor, action, affected user and application. */
export function AuditEventList(): ReactNode {
  const t = useAuditTranslations();
  const format = useFormat();
  const filters = useAuditQueryFromUrl();
  const [shown, setShown] = useState<AuditEvent>();
  const names = useUserAndApplicationNameLookups(usePageUserIds());
  return (
    <>
      <ListToolbar list="audit">
        <AuditFilterFields />
      </ListToolbar>
      <ResourceList
        label={t('section.events')}
        columns={createColumns(t, format, names, setShown)}
        query={(page) => queries.auditEvents.list({ ...filters, ...page })}
        rowKey={({ id }) => id}
      />
      <AuditEventDialog event={shown} names={names} onClose={() => setShown(undefined)} />
    </>
  );
}

/** Returns the users on the current page of the list. The query has the same key as the list's query, so only one request is sent. */
function usePageUserIds(): readonly (number | null)[] {
  const filters = useAuditQueryFromUrl();
  const cursor = useSearchParams()[0].get('cursor') ?? undefined;
  const { data } = useQuery(queries.auditEvents.list({ ...filters, limit: pageSize, ...(cursor !== undefined && { cursor }) }));
  return data?.data.flatMap(({ actor_id, user_id }) => [actor_id, user_id]) ?? [];
}

/** Returns the user whom the event affects, or `null` if it affects no other user than the actor. */
const findAffectedUserId = ({ actor_id: actorId, user_id: userId }: AuditEvent): number | null => (userId === actorId ? null : userId);

const createColumns = (
  t: AuditTranslate,
  format: Format,
  names: UserAndApplicationNames,
  onShow: (event: AuditEvent) => void,
): Column<AuditEvent>[] => [
  { id: 'time', header: t('column.time'), cell: ({ occurred_at }) => format.dateTime(occurred_at), isSecondary: true },
  {
    id: 'action',
    header: t('column.action'),
    wraps: true,
    narrowDetail: (event) => {
      const affectedUserId = findAffectedUserId(event);
      return (
        <>
          {affectedUserId !== null && [t('affectedUser', { name: names.user(affectedUserId) }), <br key="break" />]}
          {format.dateTime(event.occurred_at)}
        </>
      );
    },
    cell: ({ action, outcome }) => (
      <>
        {t.value('action', action)} {outcome === 'refused' && <StatusBadge tone="critical">{t('outcome.refused')}</StatusBadge>}
      </>
    ),
  },
  {
    id: 'actor',
    header: t('column.actor'),
    wraps: true,
    cell: ({ actor_id, client_id }) => (actor_id === null ? t(client_id === null ? 'noActor' : 'applicationItself') : names.user(actor_id)),
  },
  {
    id: 'for',
    header: t('column.for'),
    cell: (event) => {
      const affectedUserId = findAffectedUserId(event);
      return affectedUserId === null ? '–' : names.user(affectedUserId);
    },
    isSecondary: true,
  },
  {
    id: 'application',
    header: t('column.application'),
    cell: ({ client_id }) => (client_id === null ? '–' : names.application(client_id)),
    isSecondary: true,
  },
  {
    id: 'details',
    header: t('column.details'),
    align: 'end',
    cell: (event) => (
      <Button size="xs" variant="default" onClick={() => onShow(event)}>
        {t('details')}
      </Button>
    ),
  },
];
