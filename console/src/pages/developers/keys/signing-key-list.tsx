import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { DataTable } from '../../../components/lists/data-table.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { DevelopersHeader } from '../developers-header.tsx';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import classes from './api-key-list.module.css';
import { RotateSigningKeysForm } from './rotate-signing-keys-form.tsx';
import { usePublishedSigningKeysWithRotations } from './use-published-signing-keys-with-rotations.ts';

/** The keys that sign tokens, with their ages. */
export function SigningKeyList(): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const [isRotating, rotating] = useDisclosure(false);
  const { keys, published } = usePublishedSigningKeysWithRotations();
  return (
    <>
      <DevelopersHeader
        actions={
          <Button variant="danger" onClick={rotating.open}>
            {t('signingKey.rotate')}
          </Button>
        }
      />
      <p className={classes['about']}>{t('signingKey.about')}</p>
      <ErrorNotice error={published.error} onRetry={() => void published.refetch()} />
      {published.isPending && <PageSkeleton />}
      {keys && (
        <DataTable
          label={t('section.signing-keys')}
          columns={[
            { id: 'algorithm', header: t('signingKey.algorithm'), cell: ({ alg }) => alg },
            { id: 'id', header: t('signingKey.id'), cell: ({ kid }) => <code className={classes['keyId']}>{kid}</code> },
            {
              id: 'age',
              header: t('signingKey.created'),
              cell: ({ createdAt }) => (createdAt === undefined ? t('signingKey.unknownAge') : format.relative(createdAt)),
            },
            { id: 'reason', header: t('signingKey.reason'), cell: ({ reason }) => t.value('rotation', reason ?? '–'), isSecondary: true },
          ]}
          rows={keys}
          rowKey={({ kid }) => kid}
        />
      )}
      <Dialog title={t('signingKey.rotate')} isOpen={isRotating} onClose={rotating.close}>
        <RotateSigningKeysForm onClose={rotating.close} />
      </Dialog>
    </>
  );
}
