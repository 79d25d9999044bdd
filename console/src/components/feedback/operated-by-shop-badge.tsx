import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { StatusBadge } from './status-badge.tsx';

/** Distinguishes the applications that the shop operates from those of others; renders nothing for the latter. */
export function OperatedByShopBadge({ application }: { readonly application: { readonly first_party: boolean } }): ReactNode {
  const t = useCommonTranslations();
  return application.first_party && <StatusBadge tone="info">{t('operatedByShop')}</StatusBadge>;
}
