import type { Product } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge, type StatusTone } from '../../components/feedback/status-badge.tsx';
import { useProductsTranslations } from './use-products-translations.ts';

const tones: Readonly<Record<string, StatusTone>> = { active: 'positive', draft: 'warning', archived: 'neutral' };

export function ProductStatusBadge({ status }: Pick<Product, 'status'>): ReactNode {
  const t = useProductsTranslations();
  return <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('status', status)}</StatusBadge>;
}
