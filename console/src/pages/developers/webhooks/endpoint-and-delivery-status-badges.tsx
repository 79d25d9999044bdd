import type { WebhookDelivery, WebhookEndpoint } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge, type StatusTone } from '../../../components/feedback/status-badge.tsx';
import { useDevelopersTranslations } from '../use-developers-translations.ts';

export function WebhookEndpointStatusBadge({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const t = useDevelopersTranslations();
  if (endpoint.status === 'disabled') return <StatusBadge tone="neutral">{t('endpoint.disabled')}</StatusBadge>;
  if (endpoint.failing_since !== null) return <StatusBadge tone="critical">{t('endpoint.failing')}</StatusBadge>;
  return <StatusBadge tone="positive">{t('endpoint.enabled')}</StatusBadge>;
}

const deliveryTones: Readonly<Record<WebhookDelivery['status'], StatusTone>> = {
  pending: 'info',
  succeeded: 'positive',
  failed: 'critical',
  skipped: 'neutral',
};

export function WebhookDeliveryStatusBadge({ status }: Pick<WebhookDelivery, 'status'>): ReactNode {
  const t = useDevelopersTranslations();
  return <StatusBadge tone={deliveryTones[status] ?? 'neutral'}>{t.value('delivery', status)}</StatusBadge>;
}
