import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { apiClient } from '../../api/client.ts';
import { usePermissions } from '../../api/permissions.tsx';
import { Icon } from '../../components/icon.tsx';
import classes from './audit-user-filter.module.css';
import { useAuditTranslations } from './use-audit-translations.ts';

type Props = {
  /** Whether the filter applies to the actor or to the affected user. */
  readonly kind: 'actor' | 'person';
  readonly userId: string;
  readonly onChange: (userId: string) => void;
};

/** Selects a user by e-mail address or ID. */
export function AuditUserFilter({ kind, userId, onChange }: Props): ReactNode {
  const t = useAuditTranslations();
  const canFind = usePermissions().can('users.list');
  const label = t(canFind ? `filter.${kind}` : `filter.${kind}Id`);
  const [text, setText] = useState(userId);
  const find = useMutation({ mutationFn: findUserId, onSuccess: (id) => id !== undefined && onChange(id) });
  // The URL can change even if the user types nothing, for example when the user selects a saved view. The field keeps an e-mail address
  // that the user has entered.
  useEffect(() => {
    if (userId === '' || !find.isSuccess) setText(userId);
  }, [userId]);
  const submit = (): void => {
    const entered = text.trim();
    if (entered === '' || /^\d+$/.test(entered)) onChange(entered);
    else find.mutate(entered);
  };
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextInput
        type="search"
        aria-label={label}
        placeholder={label}
        leftSection={<Icon name="customers" size={16} />}
        value={text}
        error={find.error !== null || (find.isSuccess && find.data === undefined) ? t('filter.noPerson') : undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          find.reset();
          if (event.currentTarget.value === '') onChange('');
        }}
      />
    </form>
  );
}

async function findUserId(email: string): Promise<string | undefined> {
  const { data } = await apiClient.users.list({ email, limit: 1 });
  return data[0] && String(data[0].id);
}
