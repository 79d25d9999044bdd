import type { User } from '@mandate/client-sdk';
import { NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorOrSignInAgainNotice } from '../../../components/feedback/error-or-sign-in-again-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { scopesForChangingRoles } from './scopes-for-changing-roles.ts';

export const selectableRoles = ['customer', 'staff', 'admin'] as const satisfies readonly User['role'][];

type Props = { readonly user: User; readonly onClose: () => void };

export function ChangeUserRoleForm({ user, onClose }: Props): ReactNode {
  const t = useSettingsTranslations();
  const [role, setRole] = useState(user.role);
  const update = useApiMutation(mutations.users.update(user.id), {
    changes: ['users'],
    doneMessage: t('staff.roleChanged'),
    onDone: onClose,
  });
  return (
    <form
      className={classes['fields']}
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ role });
      }}
    >
      <NativeSelect
        data-autofocus
        label={t('staff.roleOf', { name: user.name })}
        description={t(`roleAbout.${role}`)}
        value={role}
        data={selectableRoles.map((value) => ({ value, label: t(`role.${value}`) }))}
        onChange={({ currentTarget: { value } }) => setRole(selectableRoles.find((name) => name === value) ?? user.role)}
      />
      <ErrorOrSignInAgainNotice error={update.error} scopes={scopesForChangingRoles} />
      <FormActions submit={t('staff.changeRole')} isPending={update.isPending} isDisabled={role === user.role} onCancel={onClose} />
    </form>
  );
}
