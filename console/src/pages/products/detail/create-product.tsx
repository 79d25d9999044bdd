import { NativeSelect, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { mutations } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { useDefaultCurrency } from '../use-default-currency.ts';
import { useProductsTranslations } from '../use-products-translations.ts';
import { ProductFormFields, parseProductFormValues, productFormErrorPointers } from './product-form-fields.tsx';
import classes from './product-form.module.css';

const emptyTexts = { name: '', description: '', category: '', price: '', taxRate: '0' };
const pointers = [...productFormErrorPointers, '#/sku', '#/currency', '#/stock'];

/** Form for a new product. */
export function CreateProduct(): ReactNode {
  const t = useProductsTranslations();
  const common = useCommonTranslations();
  const navigate = useNavigate();
  const [texts, setTexts] = useState(emptyTexts);
  const [other, setOther] = useState<OtherTexts>({ sku: '', currency: undefined, stock: '', status: 'active' });
  const { sku, stock, status } = other;
  const defaultCurrency = useDefaultCurrency();
  const currency = other.currency ?? defaultCurrency;
  const create = useApiMutation(mutations.products.create(), {
    changes: ['products', 'productCategories'],
    doneMessage: t('create.done'),
    onDone: ({ id }) => void navigate(`/products/${id}`),
  });
  const units = stock.trim() === '' ? null : Number(stock);
  const fields = parseProductFormValues(texts, currency);
  const isValid = fields !== undefined && sku.trim() !== '' && !Number.isNaN(units);
  const submit = (): void => {
    if (isValid) create.mutate({ ...fields, sku: sku.trim(), currency, stock: units, status: status === 'draft' ? 'draft' : 'active' });
  };
  return (
    <>
      <PageHeader title={t('create.title')} parent={{ to: '/products', name: common('page.products') }} />
      <Card>
        <form
          className={classes['form']}
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <SkuField sku={sku} error={create.error} onChange={(text) => setOther({ ...other, sku: text })} />
          <ProductFormFields
            texts={texts}
            currency={currency}
            currencyField={
              <CurrencyField currency={currency} error={create.error} onChange={(selected) => setOther({ ...other, currency: selected })} />
            }
            error={create.error}
            onChange={setTexts}
          />
          <SaleFields other={other} error={create.error} onChange={setOther} />
          <ErrorNotice error={create.error} fields={pointers} />
          <FormActions
            submit={t('create.action')}
            isPending={create.isPending}
            isDisabled={!isValid}
            onCancel={() => void navigate('/products')}
          />
        </form>
      </Card>
    </>
  );
}

type OtherTexts = { readonly sku: string; readonly currency: string | undefined; readonly stock: string; readonly status: string };
type SaleFieldsProps = { readonly other: OtherTexts; readonly error: unknown; readonly onChange: (other: OtherTexts) => void };

type SkuFieldProps = { readonly sku: string; readonly error: unknown; readonly onChange: (sku: string) => void };

function SkuField({ sku, error, onChange }: SkuFieldProps): ReactNode {
  const t = useProductsTranslations();
  return (
    <TextInput
      label={t('field.sku')}
      description={t('form.aboutSku')}
      required
      maxLength={64}
      autoComplete="off"
      value={sku}
      error={findFieldErrorDetail(error, '#/sku')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

type CurrencyFieldProps = { readonly currency: string; readonly error: unknown; readonly onChange: (currency: string) => void };

function CurrencyField({ currency, error, onChange }: CurrencyFieldProps): ReactNode {
  const t = useProductsTranslations();
  return (
    <NativeSelect
      label={t('field.currency')}
      description={t('form.aboutCurrency')}
      value={currency}
      data={currencies}
      error={findFieldErrorDetail(error, '#/currency')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** Fields for the initial stock and the initial status. */
function SaleFields({ other, error, onChange }: SaleFieldsProps): ReactNode {
  const t = useProductsTranslations();
  return (
    <div className={classes['row']}>
      <TextInput
        label={t('field.stock')}
        inputMode="numeric"
        autoComplete="off"
        placeholder={t('stock.untracked')}
        value={other.stock}
        error={findFieldErrorDetail(error, '#/stock')}
        onChange={(event) => onChange({ ...other, stock: event.currentTarget.value })}
      />
      <NativeSelect
        label={t('field.status')}
        value={other.status}
        data={['active', 'draft'].map((value) => ({ value, label: t.value('status', value) }))}
        onChange={(event) => onChange({ ...other, status: event.currentTarget.value })}
      />
    </div>
  );
}

/** Currencies that the Intl API supports, so that prices can be formatted. */
const currencies = Intl.supportedValuesOf('currency');
