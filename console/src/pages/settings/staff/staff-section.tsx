import type { User } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';
import { signInAgain } from '../../../api/sign-in-again.ts';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EmailAddress } from '../../../components/email-address.tsx';
import { Notice } from '../../../components/feedback/notice.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { StatusBadge } from '../../../components/feedback/status-badge.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { SettingsHeaderWithTabs } from '../settings-header-with-tabs.tsx';
import { useSettingsTranslations, type SettingsTranslate } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { AddStaffMemberByEmailForm } from './assign-staff-role-form.tsx';
import { scopesForChangingRoles } from './scopes-for-changing-roles.ts';
import { ChangeUserRoleForm } from './change-user-role-form.tsx';

/** The accounts of the shop's staff and administrators. */
export function StaffSection(): ReactNode {
  const t = useSettingsTranslations();
  const format = useFormat();
  const { user: self } = usePermissions();
  const { data: authorization } = useSuspenseQuery(queries.authorization.get());
  const canChangeRoles = scopesForChangingRoles.every((scope) => authorization.scopes.includes(scope));
  const [shown, setShown] = useState<User | 'add'>();
  const close = (): void => setShown(undefined);
  const add = canChangeRoles && <Button onClick={() => setShown('add')}>{t('staff.add')}</Button>;
  return (
    <>
      <SettingsHeaderWithTabs actions={add} />
      {self?.role === 'admin' && !canChangeRoles && (
        <div className={classes['intro']}>
          <Notice text={t('staff.signInAbout')}>
            <Button size="xs" onClick={() => void signInAgain(scopesForChangingRoles)}>
              {t('staff.signIn')}
            </Button>
          </Notice>
        </div>
      )}
      <ResourceList
        label={t('section.staff')}
        columns={createColumns(t, format, { selfId: self?.id, canChangeRoles }, setShown)}
        query={(page) => queries.users.list({ role: ['staff', 'admin'], ...page })}
        rowKey={({ id }) => id}
      />
      <Dialog title={t('staff.add')} isOpen={shown === 'add'} onClose={close}>
        <AddStaffMemberByEmailForm onClose={close} />
      </Dialog>
      <Dialog title={t('staff.changeRole')} isOpen={shown !== undefined && shown !== 'add'} onClose={close}>
        {shown !== undefined && shown !== 'add' && <ChangeUserRoleForm user={shown} onClose={close} />}
      </Dialog>
    </>
  );
}

type SignedInUser = { readonly selfId: number | undefined; readonly canChangeRoles: boolean };

/** Creates the columns. Users cannot change their own role. */
function createColumns(
  t: SettingsTranslate,
  format: Format,
  { selfId, canChangeRoles }: SignedInUser,
  onChange: (user: User) => void,
): Column<User>[] {
  const columns: Column<User>[] = [
    {
      id: 'name',
      header: t('staff.name'),
      cell: ({ id, name }) => (id === selfId ? t('staff.you', { name }) : name),
      narrowDetail: ({ email }) => <EmailAddress email={email} />,
    },
    { id: 'email', header: t('staff.email'), cell: ({ email }) => email, isSecondary: true },
    {
      id: 'role',
      header: t('staff.role'),
      cell: ({ role }) => <StatusBadge tone={role === 'admin' ? 'info' : 'neutral'}>{t.value('role', role)}</StatusBadge>,
    },
    {
      id: 'status',
      header: t('staff.status'),
      cell: ({ status }) => t.value('userStatus', status),
      isSecondary: true,
    },
    { id: 'created', header: t('staff.since'), cell: ({ created_at }) => format.date(created_at), isSecondary: true },
  ];
  if (!canChangeRoles) return columns;
  const cell = (user: User): ReactNode =>
    user.id !== selfId &&
    user.status !== 'closed' && (
      <Button size="xs" variant="default" aria-label={t('staff.changeRoleOf', { name: user.name })} onClick={() => onChange(user)}>
        {t('staff.changeRole')}
      </Button>
    );
  return [...columns, { id: 'actions', header: t('actions'), align: 'end', cell }];
}
