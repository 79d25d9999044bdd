import type { Product } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { ErrorNotice } from '../../../components/error-notice.tsx';
import { FormActions } from '../../../components/form-actions.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useProductsMessages } from '../use-products-messages.ts';

/** Puts a product on sale, archives it, or deletes a draft. */
export function ProductActions({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsMessages();
  const [isDeleting, deletion] = useDisclosure(false);
  const [isArchiving, archiving] = useDisclosure(false);
  return (
    <>
      <IfPermitted operation="products.delete">
        {product.status === 'draft' && (
          <Button variant="default" onClick={deletion.open}>
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
      <Dialog title={t('delete.title', { name: product.name })} isOpen={isDeleting} onClose={deletion.close}>
        <DeleteForm product={product} onClose={deletion.close} />
      </Dialog>
      <Dialog title={t('archive.title', { name: product.name })} isOpen={isArchiving} onClose={archiving.close}>
        <ArchiveForm product={product} onClose={archiving.close} />
      </Dialog>
    </>
  );
}

function Activate({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsMessages();
  const activate = useAction(mutations.products.update(product.id), { changes: ['products'], doneMessage: t('activate.done') });
  return (
    <Button loading={activate.isPending} onClick={() => activate.mutate({ status: 'active' })}>
      {t('activate.action')}
    </Button>
  );
}

type FormProps = { readonly product: Product; readonly onClose: () => void };

function ArchiveForm({ product, onClose }: FormProps): ReactNode {
  const t = useProductsMessages();
  const archive = useAction(mutations.products.update(product.id), {
    changes: ['products'],
    doneMessage: t('archive.done'),
    onDone: onClose,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        archive.mutate({ status: 'archived' });
      }}
    >
      <p>{t('archive.about')}</p>
      <ErrorNotice error={archive.error} />
      <FormActions submit={t('archive.action')} isPending={archive.isPending} onCancel={onClose} />
    </form>
  );
}

function DeleteForm({ product, onClose }: FormProps): ReactNode {
  const t = useProductsMessages();
  const navigate = useNavigate();
  const remove = useAction(mutations.products.delete(product.id), {
    changes: [],
    doneMessage: t('delete.done'),
    onDone: () => void navigate('/products', { replace: true }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate();
      }}
    >
      <p>{t('delete.about')}</p>
      <ErrorNotice error={remove.error} />
      <FormActions submit={t('delete.action')} isPending={remove.isPending} isDangerous onCancel={onClose} />
    </form>
  );
}
