import { NativeSelect, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ErrorNotice, findFieldErrorDetail } from '../../components/feedback/error-notice.tsx';
import { FormActions } from '../../components/forms/form-actions.tsx';
import { languageNames } from '../../languages/language-store.ts';
import { useCustomersTranslations } from './use-customers-translations.ts';

export type CustomerFormValues = { readonly name: string; readonly email: string; readonly locale: string | null };

type Props = {
  readonly initial: CustomerFormValues;
  readonly about?: string;
  readonly submit: string;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly onSubmit: (fields: CustomerFormValues) => void;
  readonly onCancel: () => void;
};

const pointers = ['#/name', '#/email', '#/locale'];

/** Form for the customer data that staff may change. */
export function CustomerForm({ initial, about, submit, error, isPending, onSubmit, onCancel }: Props): ReactNode {
  const t = useCustomersTranslations();
  const [fields, setFields] = useState(initial);
  const field = (name: 'name' | 'email') => ({
    label: t(`field.${name}`),
    required: true,
    autoComplete: 'off',
    value: fields[name],
    error: findFieldErrorDetail(error, `#/${name}`),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setFields({ ...fields, [name]: event.currentTarget.value }),
  });
  const languages: Readonly<Record<string, string>> = languageNames;
  const tags = new Set([...Object.keys(languages), ...(initial.locale === null ? [] : [initial.locale])]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit({ ...fields, name: fields.name.trim(), email: fields.email.trim() });
      }}
    >
      {about !== undefined && <p style={{ marginBottom: 12 }}>{about}</p>}
      <TextInput {...field('name')} data-autofocus maxLength={200} />
      <TextInput {...field('email')} type="email" maxLength={254} mt="sm" />
      <NativeSelect
        mt="sm"
        label={t('field.locale')}
        value={fields.locale ?? ''}
        error={findFieldErrorDetail(error, '#/locale')}
        data={[{ value: '', label: t('locale.browser') }, ...[...tags].map((value) => ({ value, label: languages[value] ?? value }))]}
        onChange={(event) => setFields({ ...fields, locale: event.currentTarget.value || null })}
      />
      <ErrorNotice error={error} fields={pointers} />
      <FormActions submit={submit} isPending={isPending} onCancel={onCancel} />
    </form>
  );
}
