import type { Product, StockAdjustmentCreate } from '@mandate/client-sdk';
import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ErrorNotice, findFieldErrorDetail } from '../../components/feedback/error-notice.tsx';
import { FormActions } from '../../components/forms/form-actions.tsx';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { ProductConflict } from './product-conflict.tsx';
import { useStockAdjustmentToCountedNumber } from './use-product-and-stock-update.ts';
import { useProductsTranslations } from './use-products-translations.ts';

const reasons = ['received', 'correction', 'damaged', 'returned'] as const satisfies readonly StockAdjustmentCreate['reason'][];

type Props = { readonly product: Product; readonly hasNote?: boolean; readonly onClose: () => void };

/** Form that sets the stock of a product to a counted number and records a reason. */
export function StockForm({ product, hasNote = false, onClose }: Props): ReactNode {
  const t = useProductsTranslations();
  const common = useCommonTranslations();
  const [seen] = useState(product);
  const [text, setText] = useState(String(product.stock ?? ''));
  const [reason, setReason] = useState<StockAdjustmentCreate['reason']>('correction');
  const [note, setNote] = useState('');
  const update = useStockAdjustmentToCountedNumber(product.id, { reason, ...(note.trim() !== '' && { note }) }, onClose);
  const stock = /^\d{1,10}$/.test(text.trim()) ? Number(text) : undefined;
  if (update.conflict) return <ProductConflict update={update} onKeepTheirs={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (stock !== undefined) update.save(seen, { stock });
      }}
    >
      <TextInput
        label={t('stock.count')}
        description={product.stock === null ? t('stock.startsTracking') : undefined}
        inputMode="numeric"
        autoComplete="off"
        value={text}
        error={stock === undefined && text !== '' ? t('stock.invalid') : findFieldErrorDetail(update.error, '#/delta')}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <NativeSelect
        mt="sm"
        label={t('stock.reason')}
        value={reason}
        onChange={(event) => setReason(reasons.find((value) => value === event.currentTarget.value) ?? 'correction')}
        data={reasons.map((value) => ({ value, label: t(`reason.${value}`) }))}
      />
      {hasNote && (
        <Textarea
          mt="sm"
          label={t('stock.note')}
          rows={2}
          maxLength={500}
          value={note}
          error={findFieldErrorDetail(update.error, '#/note')}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      )}
      <ErrorNotice error={update.error} fields={['#/delta', '#/note']} />
      <FormActions submit={common('form.save')} isPending={update.isPending} isDisabled={stock === undefined} onCancel={onClose} />
    </form>
  );
}
