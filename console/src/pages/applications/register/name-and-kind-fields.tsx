import '@mantine/core/styles/Radio.layer.css';
import { Checkbox, Radio, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { isApplicationKind, applicationKindNames } from '../application-kinds.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import type { ApplicationDraft } from './application-draft.ts';
import classes from '../applications.module.css';

type Props = { readonly draft: ApplicationDraft; readonly onChange: (draft: ApplicationDraft) => void };

/** Name and kind of the application. */
export function NameAndKindFields({ draft, onChange }: Props): ReactNode {
  const t = useApplicationsTranslations();
  return (
    <>
      <TextInput
        label={t('field.name')}
        description={t('register.aboutName')}
        required
        maxLength={100}
        autoComplete="off"
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
      />
      <Radio.Group
        label={t('field.kind')}
        value={draft.kind}
        onChange={(kind) => onChange({ ...draft, kind: isApplicationKind(kind) ? kind : draft.kind })}
      >
        <div className={classes['form']} style={{ gap: 8, marginTop: 8 }}>
          {applicationKindNames.map((kind) => (
            <div key={kind} className={classes['kind']}>
              <Radio value={kind} label={t(`kind.${kind}`)} description={t(`aboutKind.${kind}`)} />
            </div>
          ))}
        </div>
      </Radio.Group>
      <Checkbox
        label={t('register.firstParty')}
        description={t('register.aboutFirstParty')}
        checked={draft.isFirstParty}
        onChange={(event) => onChange({ ...draft, isFirstParty: event.currentTarget.checked })}
      />
    </>
  );
}
