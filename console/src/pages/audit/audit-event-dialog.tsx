import type { AuditEvent } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { PermissionList } from '../../components/page-sections/permission-list.tsx';
import { PropertyList } from '../../components/page-sections/property-list.tsx';
import { useFormat } from '../../languages/use-format.ts';
import { useAuditTranslations } from './use-audit-translations.ts';
import type { UserAndApplicationNames } from './use-user-and-application-name-lookups.ts';

type Props = { readonly event: AuditEvent | undefined; readonly names: UserAndApplicationNames; readonly onClose: () => void };

/** Shows all details of an event in the audit log. */
export function AuditEventDialog({ event, names, onClose }: Props): ReactNode {
  const t = useAuditTranslations();
  return (
    <Dialog title={event ? t.value('action', event.action) : t('details')} isOpen={event !== undefined} onClose={onClose}>
      {event && <EventProperties event={event} names={names} />}
    </Dialog>
  );
}

function EventProperties({ event, names }: { readonly event: AuditEvent; readonly names: UserAndApplicationNames }): ReactNode {
  const t = useAuditTranslations();
  const format = useFormat();
  const userName = (id: number | null): string | null => (id === null ? null : `${names.user(id)} (${id})`);
  const details = Object.entries(event.details).map(([name, value]) => ({
    name: t.value('detail', name),
    value: <Detail name={name} value={value} />,
  }));
  return (
    <PropertyList
      properties={[
        { name: t('column.time'), value: format.dateTime(event.occurred_at) },
        { name: t('column.outcome'), value: t(`outcome.${event.outcome}`) },
        { name: t('column.actor'), value: userName(event.actor_id) },
        { name: t('column.for'), value: userName(event.user_id) },
        { name: t('column.application'), value: event.client_id === null ? null : names.application(event.client_id) },
        { name: t('column.subject'), value: event.subject },
        { name: t('column.ip'), value: event.ip },
        { name: t('column.userAgent'), value: event.user_agent },
        ...details,
      ]}
    />
  );
}

function Detail({ name, value }: { readonly name: string; readonly value: unknown }): ReactNode {
  if (name === 'scopes' && Array.isArray(value)) return <PermissionList scopes={value.map(String)} />;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}
