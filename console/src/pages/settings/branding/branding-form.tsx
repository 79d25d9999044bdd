import type { Branding, BrandingUpdate } from '@mandate/client-sdk';
import { Button, TextInput, Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { apiClient } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ConflictDifference } from '../../../components/forms/conflict-difference.tsx';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { useUpdateWithConflictDetection } from '../../../components/forms/use-update-with-conflict-detection.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { AccentColorField } from './accent-color-field.tsx';

const textFields = ['name', 'help_url', 'terms_url', 'privacy_url', 'email_sender_name', 'email_footer'] as const;
type Values = Record<(typeof textFields)[number] | 'accent_color', string>;
type Props = { readonly branding: Branding };

export function BrandingForm({ branding }: Props): ReactNode {
  const t = useSettingsTranslations();
  // The version that the user saw, which does not change when the page refetches the branding.
  const [seen, setSeen] = useState(branding);
  const [values, setValues] = useState(valuesOf(branding));
  const show = (current: Branding): void => {
    setSeen(current);
    setValues(valuesOf(current));
  };
  const update = useUpdateWithConflictDetection<Branding, BrandingUpdate>({
    read: () => apiClient.branding.get().withResponse(),
    write: async (changes, ifMatch) => show(await apiClient.branding.update(changes, { ifMatch })),
    changes: ['branding'],
    doneMessage: t('branding.saved'),
  });
  const { conflict } = update;
  const changes = listChanges(seen, values);
  const keepTheirs = (): void => {
    if (conflict) show(conflict.current);
    update.dismissConflict();
  };
  return (
    <Card title={t('section.branding')}>
      <form
        className={classes['fields']}
        onSubmit={(event) => {
          event.preventDefault();
          update.save(seen, changes);
        }}
      >
        <BrandingFields values={values} error={update.error} onChange={setValues} />
        <ErrorNotice error={update.error} fields={[...textFields, 'accent_color'].map((name) => `#/${name}`)} />
        {conflict ? (
          <ConflictDifference
            differences={conflict.fields.filter(isField).map((field) => ({
              field: t(`branding.${field}`),
              theirs: conflict.current[field],
              yours: values[field],
            }))}
            isSaving={update.isPending}
            onKeepTheirs={keepTheirs}
            onOverwrite={update.overwrite}
          />
        ) : (
          <div className={classes['end']}>
            <Button type="submit" loading={update.isPending} disabled={Object.keys(changes).length === 0 || values.name.trim() === ''}>
              {t('save')}
            </Button>
          </div>
        )}
      </form>
    </Card>
  );
}

type FieldsProps = { readonly values: Values; readonly error: unknown; readonly onChange: (values: Values) => void };

function BrandingFields({ values, error, onChange }: FieldsProps): ReactNode {
  const t = useSettingsTranslations();
  const propsOf = (name: (typeof textFields)[number]) => ({
    label: t(`branding.${name}`),
    value: values[name],
    error: findFieldErrorDetail(error, `#/${name}`),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => onChange({ ...values, [name]: event.currentTarget.value }),
  });
  return (
    <>
      <TextInput {...propsOf('name')} required maxLength={60} />
      <AccentColorField
        value={values.accent_color}
        error={findFieldErrorDetail(error, '#/accent_color')}
        shopName={values.name}
        onChange={(accent_color) => onChange({ ...values, accent_color })}
      />
      <Heading title={t('branding.links')} about={t('branding.linksAbout')} />
      <TextInput {...propsOf('help_url')} type="url" maxLength={500} placeholder="https://" />
      <TextInput {...propsOf('terms_url')} type="url" maxLength={500} placeholder="https://" />
      <TextInput {...propsOf('privacy_url')} type="url" maxLength={500} placeholder="https://" />
      <Heading title={t('branding.emails')} />
      <TextInput {...propsOf('email_sender_name')} description={t('branding.senderNameAbout')} maxLength={100} />
      <Textarea {...propsOf('email_footer')} description={t('branding.footerAbout')} maxLength={500} autosize minRows={2} />
    </>
  );
}

const Heading = ({ title, about }: { readonly title: string; readonly about?: string }): ReactNode => (
  <div>
    <h3>{title}</h3>
    {about !== undefined && <p className={classes['muted']}>{about}</p>}
  </div>
);

const isField = (name: string): name is keyof Values => name === 'accent_color' || textFields.some((field) => field === name);

const valuesOf = (branding: Branding): Values => ({
  name: branding.name,
  accent_color: branding.accent_color,
  help_url: branding.help_url ?? '',
  terms_url: branding.terms_url ?? '',
  privacy_url: branding.privacy_url ?? '',
  email_sender_name: branding.email_sender_name ?? '',
  email_footer: branding.email_footer ?? '',
});

/** Returns the fields that the user has changed; an empty string removes an optional value. */
function listChanges(branding: Branding, values: Values): BrandingUpdate {
  const saved = valuesOf(branding);
  const changed = Object.entries(values).filter(([name, value]) => isField(name) && value.trim() !== saved[name]);
  return Object.fromEntries(changed.map(([name, value]) => [name, value.trim() === '' ? null : value.trim()]));
}
