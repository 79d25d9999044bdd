import '@mantine/core/styles/Pill.layer.css';
import '@mantine/core/styles/PillsInput.layer.css';
import type { ProductImportsCreateQuery } from '@mandate/client-sdk';
import { Button, FileInput, NativeSelect, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useDefaultCurrency } from '../use-default-currency.ts';
import { useProductsTranslations } from '../use-products-translations.ts';
import classes from '../detail/product-form.module.css';

export type ImportRequest = { readonly file: File; readonly query: ProductImportsCreateQuery };

/** Form for selecting a file and assigning its columns. */
export function ImportFileForm({ onSubmit }: { readonly onSubmit: (request: ImportRequest) => void }): ReactNode {
  const t = useProductsTranslations();
  const [file, setFile] = useState<File | null>(null);
  const [amounts, setAmounts] = useState<'decimal' | 'minor'>('decimal');
  const [selectedCurrency, setCurrency] = useState<string>();
  const defaultCurrency = useDefaultCurrency();
  const currency = selectedCurrency ?? defaultCurrency;
  const [category, setCategory] = useState('');
  const submit = (): void => {
    if (file) onSubmit({ file, query: { amounts, ...(currency !== '' && { currency }), ...(category !== '' && { category }) } });
  };
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <FileInput
        label={t('import.file')}
        description={t('import.aboutFile')}
        placeholder={t('import.choose')}
        accept=".csv,.ndjson,.jsonl,text/csv,application/x-ndjson"
        required
        value={file}
        onChange={setFile}
      />
      <NativeSelect
        label={t('import.amounts')}
        value={amounts}
        onChange={(event) => setAmounts(event.currentTarget.value === 'minor' ? 'minor' : 'decimal')}
        data={(['decimal', 'minor'] as const).map((value) => ({ value, label: t(`amounts.${value}`) }))}
      />
      <div className={classes['row']}>
        <NativeSelect
          label={t('field.currency')}
          description={t('import.aboutCurrency')}
          value={currency}
          data={['', ...Intl.supportedValuesOf('currency')]}
          onChange={(event) => setCurrency(event.currentTarget.value)}
        />
        <TextInput
          label={t('field.category')}
          description={t('import.aboutCategory')}
          maxLength={64}
          autoComplete="off"
          value={category}
          onChange={(event) => setCategory(event.currentTarget.value.trim())}
        />
      </div>
      <div className={classes['submit']}>
        <Button type="submit" disabled={!file}>
          {t('import.check')}
        </Button>
      </div>
    </form>
  );
}
