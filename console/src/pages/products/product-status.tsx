import type { Product } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../components/feedback/status-badge.tsx';
import { useProductsMessages } from './use-products-messages.ts';

const tones: Readonly<Record<string, Tone>> = { active: 'positive', draft: 'warning', archived: 'neutral' };

export function ProductStatus({ status }: Pick<Product, 'status'>): ReactNode {
  const t = useProductsMessages();
  return <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('status', status)}</StatusBadge>;
}
