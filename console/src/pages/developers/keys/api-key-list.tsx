import type { ApiKey } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo, useState, type ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { PermissionList } from '../../../components/page-sections/permission-list.tsx';
import { StatusBadge, type StatusTone } from '../../../components/feedback/status-badge.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { DevelopersHeader } from '../developers-header.tsx';
import { useDevelopersTranslations, type DevelopersTranslate } from '../use-developers-translations.ts';
import { CreateApiKeyForm } from './create-api-key-form.tsx';
import classes from './api-key-list.module.css';

/** The API keys of the signed-in user. */
export function ApiKeyList(): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const [isCreating, creating] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ApiKey>();
  const columns = useMemo(() => createColumns(t, format, setRevoked), [t, format]);
  return (
    <>
      <DevelopersHeader actions={<Button onClick={creating.open}>{t('key.create')}</Button>} />
      <p className={classes['about']}>{t('key.about')}</p>
      <ResourceList
        label={t('section.api-keys')}
        columns={columns}
        query={(page) => queries.apiKeys.list(page)}
        rowKey={({ id }) => id}
        empty={<EmptyState title={t('key.none')} />}
      />
      <Dialog title={t('key.create')} isOpen={isCreating} onClose={creating.close}>
        <CreateApiKeyForm onClose={creating.close} />
      </Dialog>
      {revoked && <RevokeDialog apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }): ReactNode {
  const t = useDevelopersTranslations();
  const revoke = useApiMutation(mutations.apiKeys.revoke(apiKey.id), {
    changes: ['apiKeys'],
    doneMessage: t('key.revoked'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={t('key.revoke')}
      text={t('key.revokeAbout', { name: apiKey.name })}
      action={t('key.revoke')}
      isOpen
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}

const tones: Readonly<Record<ApiKey['status'], StatusTone>> = { active: 'positive', revoked: 'critical', expired: 'neutral' };

const createColumns = (t: DevelopersTranslate, format: Format, onRevoke: (key: ApiKey) => void): Column<ApiKey>[] => [
  {
    id: 'name',
    header: t('key.name'),
    cell: ({ name, prefix }) => (
      <>
        <span className={classes['name']}>{name}</span>
        <code className={classes['prefix']}>{prefix}…</code>
      </>
    ),
    narrowDetail: ({ scopes }) => <PermissionList scopes={scopes} />,
  },
  { id: 'scopes', header: t('key.scopes'), cell: ({ scopes }) => <PermissionList scopes={scopes} />, isSecondary: true },
  {
    id: 'lastUsed',
    header: t('key.lastUsed'),
    cell: ({ last_used_at }) => (last_used_at === null ? t('key.never') : format.relative(last_used_at)),
    isSecondary: true,
  },
  { id: 'expires', header: t('key.expires'), cell: ({ expires_at }) => format.date(expires_at), isSecondary: true },
  {
    id: 'status',
    header: t('status'),
    cell: ({ status }) => <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('keyStatus', status)}</StatusBadge>,
  },
  {
    id: 'actions',
    header: t('actions'),
    align: 'end',
    cell: (key) =>
      key.status === 'active' && (
        <Button size="xs" variant="danger" aria-label={t('key.revokeNamed', { name: key.name })} onClick={() => onRevoke(key)}>
          {t('key.revoke')}
        </Button>
      ),
  },
];
