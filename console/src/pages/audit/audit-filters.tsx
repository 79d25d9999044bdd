import type { AuditEventsListQuery } from '@mandate/client-sdk';
import { NativeSelect, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { useSetUrlFilterAndResetPage } from '../../components/lists/use-set-url-filter-and-reset-page.ts';
import { auditActions, type AuditAction } from './audit-actions.ts';
import { ApplicationFilter } from './application-filter.tsx';
import { AuditUserFilter } from './audit-user-filter.tsx';
import { useAuditTranslations } from './use-audit-translations.ts';
import classes from './audit-filters.module.css';

const outcomes = ['success', 'refused'] as const;
const isAction = (name: string | null): name is AuditAction => auditActions.some((action) => action === name);

/** Returns the filters in the URL. */
export function useAuditQueryFromUrl(): AuditEventsListQuery {
  const [parameters] = useSearchParams();
  const action = parameters.get('action');
  const outcome = outcomes.find((name) => name === parameters.get('outcome'));
  const userId = parameters.get('user_id') ?? '';
  const actorId = parameters.get('actor_id') ?? '';
  const clientId = parameters.get('client_id') ?? '';
  const from = startOfDay(parameters.get('from'), 0);
  const until = startOfDay(parameters.get('until'), 1);
  return {
    ...(isAction(action) && { action: [action] }),
    ...(outcome && { outcome }),
    ...(/^\d+$/.test(userId) && { user_id: Number(userId) }),
    ...(/^\d+$/.test(actorId) && { actor_id: Number(actorId) }),
    ...(clientId !== '' && { client_id: clientId }),
    ...(from !== undefined && { occurred_at_gte: from }),
    ...(until !== undefined && { occurred_at_lt: until }),
  };
}

/** Returns the time at which a day starts in the user's time zone. The day is `offset` days after the given day, such as `2026-01-31`. */
function startOfDay(day: string | null, offset: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + offset).toISOString();
}

export function AuditFilterFields(): ReactNode {
  const t = useAuditTranslations();
  const [parameters] = useSearchParams();
  const set = useSetUrlFilterAndResetPage();
  const valueOf = (name: string): string => parameters.get(name) ?? '';
  return (
    <div className={classes['filters']}>
      <AuditUserFilter kind="actor" userId={valueOf('actor_id')} onChange={(id) => set('actor_id', id)} />
      <AuditUserFilter kind="person" userId={valueOf('user_id')} onChange={(id) => set('user_id', id)} />
      <ApplicationFilter clientId={valueOf('client_id')} onChange={(id) => set('client_id', id)} />
      <NativeSelect
        aria-label={t('filter.action')}
        value={valueOf('action')}
        data={[{ value: '', label: t('filter.allActions') }, ...auditActions.map((value) => ({ value, label: t.value('action', value) }))]}
        onChange={(event) => set('action', event.currentTarget.value)}
      />
      <NativeSelect
        className={classes['outcome'] ?? ''}
        aria-label={t('column.outcome')}
        value={valueOf('outcome')}
        data={[{ value: '', label: t('filter.allOutcomes') }, ...outcomes.map((value) => ({ value, label: t(`outcome.${value}`) }))]}
        onChange={(event) => set('outcome', event.currentTarget.value)}
      />
      {(['from', 'until'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          aria-label={t(`filter.${name}`)}
          leftSection={t(`filter.${name}Short`)}
          leftSectionWidth={56}
          value={valueOf(name)}
          onChange={(event) => set(name, event.currentTarget.value)}
        />
      ))}
    </div>
  );
}
