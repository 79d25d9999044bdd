import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { queries } from '../../api/client.ts';
import { usePermissions } from '../../api/permissions.tsx';
import { useAuditTranslations } from './use-audit-translations.ts';

type Props = { readonly clientId: string; readonly onChange: (clientId: string) => void };

/** Selects the application through which users acted: by name or, if the token does not permit listing applications, by client ID. */
export function ApplicationFilter({ clientId, onChange }: Props): ReactNode {
  const t = useAuditTranslations();
  const canList = usePermissions().can('applications.list');
  const { data } = useQuery({ ...queries.applications.list({ limit: 100 }), enabled: canList });
  if (!canList) return <ClientIdField clientId={clientId} onChange={onChange} />;
  const choices = data?.data.map(({ client_id: value, name }) => ({ value, label: name })) ?? [];
  const isListed = clientId === '' || choices.some(({ value }) => value === clientId);
  return (
    <NativeSelect
      aria-label={t('filter.application')}
      value={clientId}
      // A link can select an application that the list does not contain.
      data={[{ value: '', label: t('filter.allApplications') }, ...choices, ...(isListed ? [] : [{ value: clientId, label: clientId }])]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function ClientIdField({ clientId, onChange }: Props): ReactNode {
  const t = useAuditTranslations();
  const [text, setText] = useState(clientId);
  useEffect(() => setText(clientId), [clientId]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <TextInput
        aria-label={t('filter.clientId')}
        placeholder={t('filter.clientId')}
        maxLength={2048}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
