import type { Product } from '@mandate/client-sdk';
import { Autocomplete, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { AmountInput, formatAmountForInput, parseAmountToMinorUnits } from '../../../components/forms/amount-input.tsx';
import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { useProductsTranslations } from '../use-products-translations.ts';
import classes from './product-form.module.css';

/** User input in the fields that the forms for new and existing products have in common. */
export type ProductFormValues = {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly price: string;
  readonly taxRate: string;
};

export const productFormValuesFromProduct = (product: Product): ProductFormValues => ({
  name: product.name,
  description: product.description,
  category: product.category,
  price: formatAmountForInput(product.price, product.currency),
  taxRate: String(product.tax_rate_bps / 100),
});

/** JSON Pointers of the fields next to which the form shows API errors. */
export const productFormErrorPointers = ['#/name', '#/description', '#/category', '#/price', '#/tax_rate_bps'] as const;

/** Converts a percentage such as `17.5` to basis points. Returns `undefined` if the text is not such a number. */
function parseTaxRate(text: string): number | undefined {
  const match = /^\s*(\d{1,3})(?:[.,](\d{1,2}))?\s*$/.exec(text === '' ? '0' : text);
  return match ? Number(match[1] + (match[2] ?? '').padEnd(2, '0')) : undefined;
}

/** Converts the values that the user entered to API fields. Returns `undefined` if an amount or percentage is not a number. */
export function parseProductFormValues({ name, description, category, price, taxRate }: ProductFormValues, currency: string) {
  const [amount, taxRateBps] = [parseAmountToMinorUnits(price, currency), parseTaxRate(taxRate)];
  if (amount === undefined || taxRateBps === undefined || name.trim() === '' || category.trim() === '') return undefined;
  return { name: name.trim(), description, category: category.trim(), price: amount, tax_rate_bps: taxRateBps };
}

type Props = {
  readonly texts: ProductFormValues;
  readonly currency: string;
  /** Field for the currency, if it can be changed. */
  readonly currencyField?: ReactNode;
  readonly error: unknown;
  readonly onChange: (texts: ProductFormValues) => void;
};

export function ProductFormFields({ texts, currency, currencyField, error, onChange }: Props): ReactNode {
  const t = useProductsTranslations();
  const { data } = useQuery(queries.productCategories.list({ limit: 100, status: ['draft', 'active', 'archived'] }));
  const set = (change: Partial<ProductFormValues>): void => onChange({ ...texts, ...change });
  const field = (name: 'name' | 'description') => ({
    label: t(`field.${name}`),
    value: texts[name],
    error: findFieldErrorDetail(error, `#/${name}`),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => set({ [name]: event.currentTarget.value }),
  });
  return (
    <>
      <TextInput {...field('name')} required maxLength={200} autoComplete="off" />
      <Textarea {...field('description')} rows={5} maxLength={5000} />
      <Autocomplete
        label={t('field.category')}
        description={t('form.aboutCategory')}
        required
        maxLength={64}
        data={data?.data.map(({ category }) => category) ?? []}
        value={texts.category}
        error={findFieldErrorDetail(error, '#/category')}
        onChange={(category) => set({ category })}
      />
      <div className={classes['row']}>
        <AmountInput
          label={t('field.price')}
          description={t('form.aboutPrice')}
          currency={currency}
          isRequired
          value={texts.price}
          error={findFieldErrorDetail(error, '#/price')}
          onChange={(price) => set({ price })}
        />
        {currencyField}
        <TextInput
          label={t('field.tax_rate_bps')}
          description={t('form.aboutTaxRate')}
          inputMode="decimal"
          autoComplete="off"
          rightSection="%"
          value={texts.taxRate}
          error={parseTaxRate(texts.taxRate) === undefined ? t('form.taxRateInvalid') : findFieldErrorDetail(error, '#/tax_rate_bps')}
          onChange={(event) => set({ taxRate: event.currentTarget.value })}
        />
      </div>
    </>
  );
}
