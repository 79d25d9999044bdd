import type { Product } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { DeleteDialog } from '../../../components/dialogs/delete-dialog.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useProductsTranslations } from '../use-products-translations.ts';

/** Buttons that list a product for sale, archive it, or delete a draft. */
export function ProductActions({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const [isDeleting, deletion] = useDisclosure(false);
  const [isArchiving, archiving] = useDisclosure(false);
  return (
    <>
      <IfPermitted operation="products.delete">
        {product.status === 'draft' && (
          <Button variant="danger" onClick={deletion.open}>
            {t('delete.action')}
          </Button>
        )}
      </IfPermitted>
      <IfPermitted operation="products.update">
        {product.status === 'active' && (
          <Button variant="default" onClick={archiving.open}>
            {t('archive.action')}
          </Button>
        )}
        {product.status !== 'active' && <Activate product={product} />}
      </IfPermitted>
      <DeleteProductDialog product={product} isOpen={isDeleting} onClose={deletion.close} />
      <ArchiveDialog product={product} isOpen={isArchiving} onClose={archiving.close} />
    </>
  );
}

function Activate({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const activate = useApiMutation(mutations.products.update(product.id), { changes: ['products'], doneMessage: t('activate.done') });
  return (
    <Button loading={activate.isPending} onClick={() => activate.mutate({ status: 'active' })}>
      {t('activate.action')}
    </Button>
  );
}

type DialogProps = { readonly product: Product; readonly isOpen: boolean; readonly onClose: () => void };

function ArchiveDialog({ product, isOpen, onClose }: DialogProps): ReactNode {
  const t = useProductsTranslations();
  const archive = useApiMutation(mutations.products.update(product.id), {
    changes: ['products'],
    doneMessage: t('archive.done'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={t('archive.title', { name: product.name })}
      text={t('archive.about')}
      action={t('archive.action')}
      isDangerous={false}
      isOpen={isOpen}
      isPending={archive.isPending}
      error={archive.error}
      onConfirm={() => archive.mutate({ status: 'archived' })}
      onClose={onClose}
    />
  );
}

function DeleteProductDialog({ product, isOpen, onClose }: DialogProps): ReactNode {
  const t = useProductsTranslations();
  const navigate = useNavigate();
  return (
    <DeleteDialog
      mutation={mutations.products.delete(product.id)}
      changes={[]}
      doneMessage={t('delete.done')}
      onDone={() => void navigate('/products', { replace: true })}
      title={t('delete.title', { name: product.name })}
      text={t('delete.about')}
      action={t('delete.action')}
      isOpen={isOpen}
      onClose={onClose}
    />
  );
}
