import type { User } from '@mandate/client-sdk';
import { NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ActionError } from '../../../components/feedback/action-error.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useAction } from '../../../components/forms/use-action.ts';
import { useSettingsMessages } from '../use-settings-messages.ts';
import classes from '../settings.module.css';
import { roleChangeScopes } from './role-change-scopes.ts';

export const roles = ['customer', 'staff', 'admin'] as const satisfies readonly User['role'][];

type Props = { readonly user: User; readonly onClose: () => void };

export function RoleForm({ user, onClose }: Props): ReactNode {
  const t = useSettingsMessages();
  const [role, setRole] = useState(user.role);
  const update = useAction(mutations.users.update(user.id), { changes: ['users'], doneMessage: t('staff.roleChanged'), onDone: onClose });
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
        data={roles.map((value) => ({ value, label: t(`role.${value}`) }))}
        onChange={({ currentTarget: { value } }) => setRole(roles.find((name) => name === value) ?? user.role)}
      />
      <ActionError error={update.error} scopes={roleChangeScopes} />
      <FormActions submit={t('staff.changeRole')} isPending={update.isPending} isDisabled={role === user.role} onCancel={onClose} />
    </form>
  );
}
