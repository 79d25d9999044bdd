import type { Application } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../components/feedback/status-badge.tsx';
import { useApplicationsTranslations } from './use-applications-translations.ts';

export function ApplicationStatusBadge({ status }: Pick<Application, 'status'>): ReactNode {
  const t = useApplicationsTranslations();
  return <StatusBadge tone={status === 'active' ? 'positive' : 'critical'}>{t.value('status', status)}</StatusBadge>;
}
