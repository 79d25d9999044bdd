import type { Product } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { ProductConflict } from '../product-conflict.tsx';
import { useProductUpdateWithConflictDetection, type ProductChanges } from '../use-product-and-stock-update.ts';
import {
  ProductFormFields,
  parseProductFormValues,
  productFormErrorPointers,
  productFormValuesFromProduct,
  type ProductFormValues,
} from './product-form-fields.tsx';
import classes from './product-form.module.css';

/** Form that changes a product. Until the user changes something, the form shows other users' changes. */
export function EditProduct({ product }: { readonly product: Product }): ReactNode {
  const common = useCommonTranslations();
  // The product as it was when the user began to edit it.
  const [editing, setEditing] = useState<{ readonly seen: Product; readonly texts: ProductFormValues }>();
  const reset = (): void => setEditing(undefined);
  const update = useProductUpdateWithConflictDetection(product.id, reset);
  const texts = editing?.texts ?? productFormValuesFromProduct(product);
  const changes = editing && findChanges(editing.seen, texts);
  const keepTheirs = (): void => {
    update.dismissConflict();
    reset();
  };
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (editing && changes) update.save(editing.seen, changes);
      }}
    >
      <ProductFormFields
        texts={texts}
        currency={product.currency}
        error={update.error}
        onChange={(changed) => setEditing({ seen: editing?.seen ?? product, texts: changed })}
      />
      <ProductConflict update={update} onKeepTheirs={keepTheirs} />
      <ErrorNotice error={update.error} fields={productFormErrorPointers} />
      {editing && !update.conflict && (
        <div className={classes['submit']}>
          <Button variant="default" onClick={reset}>
            {common('form.cancel')}
          </Button>
          <Button type="submit" loading={update.isPending} disabled={!changes}>
            {common('form.save')}
          </Button>
        </div>
      )}
    </form>
  );
}

/** Returns the fields whose values differ from the product. Returns `undefined` if no field differs or a number is invalid. */
function findChanges(product: Product, texts: ProductFormValues): ProductChanges | undefined {
  const fields = parseProductFormValues(texts, product.currency);
  if (!fields) return undefined;
  const { name, description, category, price, tax_rate_bps: taxRate } = fields;
  const changes: ProductChanges = {
    ...(name !== product.name && { name }),
    ...(description !== product.description && { description }),
    ...(category !== product.category && { category }),
    ...(price !== product.price && { price }),
    ...(taxRate !== product.tax_rate_bps && { tax_rate_bps: taxRate }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}
