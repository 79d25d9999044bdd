import type { Backup } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { TableRowButton } from '../table-row-button.tsx';
import { useSettingsTranslations, type SettingsTranslate } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { BackupCheckBadge } from './backup-check-badge.tsx';

/** All backups in the directory. `isBusy` is true while a backup is being created or checked. */
export function BackupList({ isBusy }: { readonly isBusy: boolean }): ReactNode {
  const t = useSettingsTranslations();
  const format = useFormat();
  return (
    <section aria-label={t('backup.all')}>
      <h2 className={classes['heading']}>{t('backup.all')}</h2>
      <ResourceList
        label={t('backup.all')}
        columns={createColumns(t, format, isBusy)}
        query={(page) => queries.backups.list(page)}
        rowKey={({ id }) => id}
      />
    </section>
  );
}

const createColumns = (t: SettingsTranslate, format: Format, isBusy: boolean): Column<Backup>[] => [
  { id: 'created', header: t('backup.created'), cell: ({ created_at: at }) => format.relative(at) },
  { id: 'file', header: t('backup.file'), cell: ({ file_name: name }) => <code title={name}>{name}</code>, isSecondary: true },
  { id: 'state', header: t('backup.state'), cell: (backup) => <BackupCheckBadge backup={backup} /> },
  {
    id: 'checked',
    header: t('backup.checked'),
    cell: ({ checked_at: at }) => (at === null ? '–' : format.relative(at)),
    isSecondary: true,
  },
  { id: 'size', header: t('backup.size'), cell: ({ bytes }) => format.bytes(bytes), align: 'end' },
  { id: 'actions', header: t('actions'), cell: (backup) => <CheckButton backup={backup} isDisabled={isBusy} />, align: 'end' },
];

function CheckButton({
  backup: { id, file_name: name },
  isDisabled,
}: {
  readonly backup: Backup;
  readonly isDisabled: boolean;
}): ReactNode {
  const t = useSettingsTranslations();
  const check = useApiMutation(mutations.backups.check(id), {
    changes: ['tasks'],
    doneMessage: t('backup.checkStarted'),
    notifiesErrors: true,
  });
  return (
    <TableRowButton
      text={t('backup.check')}
      label={t('backup.checkNamed', { name })}
      isPending={check.isPending}
      isDisabled={isDisabled}
      onClick={() => check.mutate()}
    />
  );
}
