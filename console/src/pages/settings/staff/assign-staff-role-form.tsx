import type { User } from '@mandate/client-sdk';
import { NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { apiClient, keyOf } from '../../../api/client.ts';
import { ErrorOrSignInAgainNotice } from '../../../components/feedback/error-or-sign-in-again-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { scopesForChangingRoles } from './scopes-for-changing-roles.ts';
import { selectableRoles } from './change-user-role-form.tsx';

/** Form that assigns a role to the account with the entered e-mail address. */
export function AddStaffMemberByEmailForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useSettingsTranslations();
  const queryClient = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<User['role']>('staff');
  const add = useMutation({
    mutationFn: () => giveRole(email.trim(), role),
    onSuccess: async (user) => {
      if (!user) return;
      await queryClient.invalidateQueries({ queryKey: keyOf('users') });
      onClose();
    },
  });
  return (
    <form
      className={classes['fields']}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <p>{t('staff.addAbout')}</p>
      <TextInput
        data-autofocus
        type="email"
        label={t('staff.email')}
        required
        maxLength={254}
        value={email}
        error={add.isSuccess && add.data === undefined ? t('staff.notFound') : undefined}
        onChange={(event) => {
          setEmail(event.currentTarget.value);
          add.reset();
        }}
      />
      <NativeSelect
        label={t('staff.role')}
        description={t(`roleAbout.${role}`)}
        value={role}
        data={selectableRoles.filter((name) => name !== 'customer').map((value) => ({ value, label: t(`role.${value}`) }))}
        onChange={({ currentTarget: { value } }) => setRole(selectableRoles.find((name) => name === value) ?? 'staff')}
      />
      <ErrorOrSignInAgainNotice error={add.error} scopes={scopesForChangingRoles} />
      <FormActions submit={t('staff.add')} isPending={add.isPending} isDisabled={email.trim() === ''} onCancel={onClose} />
    </form>
  );
}

/** Returns the changed account, or `undefined` if there is no account with the e-mail address. */
async function giveRole(email: string, role: User['role']): Promise<User | undefined> {
  const { data } = await apiClient.users.list({ email, limit: 1 });
  return data[0] && apiClient.users.update(data[0].id, { role });
}
