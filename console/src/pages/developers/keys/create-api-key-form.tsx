import type { ApiKeyCreate } from '@mandate/client-sdk';
import { Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { ErrorOrSignInAgainNotice } from '../../../components/feedback/error-or-sign-in-again-notice.tsx';
import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useDescribeScope } from '../../../components/page-sections/permission-list.tsx';
import { SecretShownOnce } from '../../../components/forms/secret-shown-once.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import classes from './create-api-key-form.module.css';

type KeyScope = ApiKeyCreate['scopes'][number];

/** Scopes that a key can have. The code does not compile if a scope from the contract is missing. */
const keyScopes: Record<KeyScope, true> = {
  'users.read': true,
  'users.write': true,
  'users.manage': true,
  'products.write': true,
  'orders.read': true,
  'orders.write': true,
  'orders.manage': true,
  'payments.read': true,
  'payments.write': true,
  'payments.manage': true,
  'refunds.write': true,
  'shipments.write': true,
  'statistics.read': true,
  'settings.write': true,
  'branding.manage': true,
  'tasks.read': true,
  'tasks.write': true,
  'events.read': true,
  'webhooks.read': true,
  'webhooks.write': true,
  'connected_apps.read': true,
  'connected_apps.write': true,
  'applications.manage': true,
  'identity_providers.manage': true,
  'signing_keys.manage': true,
  'backups.manage': true,
  'audit.read': true,
};
const isKeyScope = (name: string): name is KeyScope => Object.hasOwn(keyScopes, name);

const lifetimes = [30, 90, 180, 365];
const msPerDay = 86_400_000;

/** Creates an API key, and then shows the key. */
export function CreateApiKeyForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useDevelopersTranslations();
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const create = useApiMutation(mutations.apiKeys.create(), { changes: ['apiKeys'], doneMessage: t('key.created') });
  if (create.data) return <SecretShownOnce label={t('key.key')} secret={create.data.key} onDone={onClose} />;
  const expiresAt = (): string => new Date(Date.now() + Number(days) * msPerDay).toISOString();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name: name.trim(), scopes: scopes.filter(isKeyScope), expires_at: expiresAt() });
      }}
    >
      <Stack gap="md">
        <TextInput
          data-autofocus
          label={t('key.name')}
          required
          maxLength={100}
          value={name}
          error={findFieldErrorDetail(create.error, '#/name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('key.lifetime')}
          value={days}
          data={lifetimes.map((count) => ({ value: String(count), label: t('key.days', { count }) }))}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        <ScopeChoice selected={scopes} error={findFieldErrorDetail(create.error, '#/scopes')} onChange={setScopes} />
        <ErrorOrSignInAgainNotice error={create.error} fields={['#/name', '#/scopes']} />
      </Stack>
      <FormActions
        submit={t('key.create')}
        isPending={create.isPending}
        isDisabled={name.trim() === '' || scopes.length === 0}
        onCancel={onClose}
      />
    </form>
  );
}

type ScopeChoiceProps = {
  readonly selected: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (scopes: readonly string[]) => void;
};

/** Offers only the scopes of the user's token, because a key cannot have any other scopes. */
function ScopeChoice({ selected, error, onChange }: ScopeChoiceProps): ReactNode {
  const t = useDevelopersTranslations();
  const describeScope = useDescribeScope();
  const { data: authorization } = useSuspenseQuery(queries.authorization.get());
  return (
    <Checkbox.Group
      label={t('key.scopes')}
      description={t('key.scopesAbout')}
      error={error}
      required
      value={[...selected]}
      onChange={onChange}
    >
      <div className={classes['scopes']}>
        {authorization.scopes.filter(isKeyScope).map((scope) => (
          <Checkbox key={scope} value={scope} label={describeScope(scope)} description={<code>{scope}</code>} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
