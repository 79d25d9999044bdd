import type { Product } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { usePermissions } from '../../../api/permissions.tsx';
import { AmountInput, formatAmountForInput, parseAmountToMinorUnits } from '../../../components/forms/amount-input.tsx';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { ProductConflict } from '../product-conflict.tsx';
import { useProductUpdateWithConflictDetection } from '../use-product-and-stock-update.ts';
import { useProductsTranslations } from '../use-products-translations.ts';
import { TableCellEditor } from './table-cell-editor.tsx';

export function EditablePriceCell({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const price = useFormat().money(product.price, product.currency);
  if (!usePermissions().can('products.update')) return price;
  return (
    <TableCellEditor
      label={t('list.changePrice', { name: product.name, price })}
      value={price}
      form={(close) => <PriceForm product={product} onClose={close} />}
    />
  );
}

function PriceForm({ product, onClose }: { readonly product: Product; readonly onClose: () => void }): ReactNode {
  const t = useProductsTranslations();
  const common = useCommonTranslations();
  // The page updates `product` when another user changes the product; `seen` is the version that this user saw.
  const [seen] = useState(product);
  const [text, setText] = useState(formatAmountForInput(product.price, product.currency));
  const update = useProductUpdateWithConflictDetection(product.id, onClose);
  const price = parseAmountToMinorUnits(text, product.currency);
  if (update.conflict) return <ProductConflict update={update} onKeepTheirs={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (price !== undefined) update.save(seen, { price });
      }}
    >
      <AmountInput
        label={t('field.price')}
        currency={product.currency}
        value={text}
        onChange={setText}
        error={findFieldErrorDetail(update.error, '#/price')}
      />
      <ErrorNotice error={update.error} fields={['#/price']} />
      <FormActions submit={common('form.save')} isPending={update.isPending} isDisabled={price === undefined} onCancel={onClose} />
    </form>
  );
}
