import type { Application } from '@mandate/client-sdk';
import { NativeSelect, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { AmountInput, formatAmountForInput, parseAmountToMinorUnits } from '../../components/forms/amount-input.tsx';
import { findFieldErrorDetail } from '../../components/feedback/error-notice.tsx';
import { useApplicationsTranslations } from './use-applications-translations.ts';
import classes from './applications.module.css';

/** Limits that the user entered for an application. An empty string means that there is no limit or that the server's default applies. */
export type LimitFormValues = {
  readonly rate: string;
  readonly quota: string;
  readonly currency: string;
  readonly perOrder: string;
  readonly perPeriod: string;
  readonly period: string;
};

export const initialLimitFormValues: LimitFormValues = {
  rate: '',
  quota: '',
  currency: 'GBP',
  perOrder: '',
  perPeriod: '',
  period: 'month',
};

type Limits = Pick<Application, 'rate_limit_per_minute' | 'quota_per_month' | 'order_limits_ceiling'>;

export function limitFormValuesFromApplication({
  rate_limit_per_minute: rate,
  quota_per_month: quota,
  order_limits_ceiling: ceiling,
}: Limits): LimitFormValues {
  const amount = (value: number | undefined): string =>
    ceiling === null || value === undefined ? '' : formatAmountForInput(value, ceiling.currency);
  return {
    rate: String(rate ?? ''),
    quota: String(quota ?? ''),
    currency: ceiling?.currency ?? initialLimitFormValues.currency,
    perOrder: amount(ceiling?.per_order),
    perPeriod: amount(ceiling?.per_period),
    period: ceiling?.period ?? initialLimitFormValues.period,
  };
}

const periods = ['day', 'week', 'month'] as const;
const parseCount = (text: string): number | null => (/^\s*\d+\s*$/.test(text) ? Number(text) : null);

/** Returns whether all values that the user entered are numbers. */
export const areLimitFormValuesValid = ({ rate, quota, currency, perOrder, perPeriod }: LimitFormValues): boolean =>
  [rate, quota].every((text) => text.trim() === '' || parseCount(text) !== null) &&
  [perOrder, perPeriod].every((text) => text.trim() === '' || parseAmountToMinorUnits(text, currency) !== undefined);

/** Converts the values that the user entered to API fields. */
export function parseLimitFormValues({ rate, quota, currency, perOrder, perPeriod, period }: LimitFormValues): Limits {
  const [orderAmount, periodAmount] = [parseAmountToMinorUnits(perOrder, currency), parseAmountToMinorUnits(perPeriod, currency)];
  const selectedPeriod = periods.find((name) => name === period) ?? 'month';
  const hasCeiling = orderAmount !== undefined || periodAmount !== undefined;
  return {
    rate_limit_per_minute: parseCount(rate),
    quota_per_month: parseCount(quota),
    order_limits_ceiling: hasCeiling
      ? {
          currency,
          ...(orderAmount !== undefined && { per_order: orderAmount }),
          ...(periodAmount !== undefined && { per_period: periodAmount, period: selectedPeriod }),
        }
      : null,
  };
}

export const limitFormErrorPointers = [
  '#/rate_limit_per_minute',
  '#/quota_per_month',
  '#/order_limits_ceiling/per_order',
  '#/order_limits_ceiling/per_period',
];

type Props = { readonly texts: LimitFormValues; readonly error: unknown; readonly onChange: (texts: LimitFormValues) => void };

export function UsageAndOrderLimitFields({ texts, error, onChange }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const count = (name: 'rate' | 'quota', pointer: string) => ({
    label: t(`limit.${name}`),
    inputMode: 'numeric' as const,
    autoComplete: 'off',
    placeholder: t('limit.default'),
    value: texts[name],
    error: texts[name].trim() !== '' && parseCount(texts[name]) === null ? t('limit.invalid') : findFieldErrorDetail(error, pointer),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => onChange({ ...texts, [name]: event.currentTarget.value }),
  });
  return (
    <>
      <div className={classes['row']}>
        <TextInput {...count('rate', '#/rate_limit_per_minute')} />
        <TextInput {...count('quota', '#/quota_per_month')} />
      </div>
      <fieldset className={classes['fieldset']}>
        <legend>{t('limit.orders')}</legend>
        <p className={classes['muted']}>{t('limit.aboutOrders')}</p>
        <div className={classes['row']}>
          <NativeSelect
            label={t('limit.currency')}
            value={texts.currency}
            data={Intl.supportedValuesOf('currency')}
            onChange={(event) => onChange({ ...texts, currency: event.currentTarget.value })}
          />
          <AmountInput
            label={t('limit.perOrder')}
            currency={texts.currency}
            value={texts.perOrder}
            error={findFieldErrorDetail(error, '#/order_limits_ceiling/per_order')}
            onChange={(perOrder) => onChange({ ...texts, perOrder })}
          />
          <AmountInput
            label={t('limit.perPeriod')}
            currency={texts.currency}
            value={texts.perPeriod}
            error={findFieldErrorDetail(error, '#/order_limits_ceiling/per_period')}
            onChange={(perPeriod) => onChange({ ...texts, perPeriod })}
          />
          <NativeSelect
            label={t('limit.period')}
            value={texts.period}
            data={periods.map((value) => ({ value, label: t(`period.${value}`) }))}
            onChange={(event) => onChange({ ...texts, period: event.currentTarget.value })}
          />
        </div>
      </fieldset>
    </>
  );
}
