import type { Application } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';

/** Limits that apply to an application, and the highest limits that a customer can set for it. */
export function ApplicationLimitsPropertyList({ application }: { readonly application: Application }): ReactNode {
  const t = useApplicationsTranslations();
  const format = useFormat();
  const {
    rate_limit_per_minute: rate,
    quota_per_month: quota,
    order_limits_ceiling: ceiling,
    order_products_ceiling: products,
  } = application;
  const money = (amount: number | undefined): string =>
    ceiling === null || amount === undefined ? t('limit.none') : format.money(amount, ceiling.currency);
  return (
    <PropertyList
      properties={[
        { name: t('limit.rate'), value: rate === null ? t('limit.default') : format.number(rate) },
        { name: t('limit.quota'), value: quota === null ? t('limit.default') : format.number(quota) },
        { name: t('limit.perOrder'), value: money(ceiling?.per_order) },
        {
          name: ceiling?.period === undefined ? t('limit.perPeriod') : t(`limitPer.${ceiling.period}`),
          value: money(ceiling?.per_period),
        },
        { name: t('limit.products'), value: products === null ? t('limit.allProducts') : products.categories.join(', ') },
      ]}
    />
  );
}
