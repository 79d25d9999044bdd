import type { User } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge, type StatusTone } from '../../components/feedback/status-badge.tsx';
import { useCustomersTranslations } from './use-customers-translations.ts';

const tones: Readonly<Record<string, StatusTone>> = { active: 'positive', suspended: 'warning', closed: 'neutral' };

export function CustomerStatusBadge({ status }: Pick<User, 'status'>): ReactNode {
  const t = useCustomersTranslations();
  return <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('status', status)}</StatusBadge>;
}
