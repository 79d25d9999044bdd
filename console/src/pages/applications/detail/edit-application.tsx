import type { Application, ApplicationUpdate } from '@mandate/client-sdk';
import { TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { usesRedirectUri, findBestFittingApplicationKind } from '../application-kinds.ts';
import {
  UsageAndOrderLimitFields,
  areLimitFormValuesValid,
  limitFormErrorPointers,
  limitFormValuesFromApplication,
  parseLimitFormValues,
} from '../usage-and-order-limit-fields.tsx';
import { splitLinesIntoUris } from '../register/application-draft.ts';
import { RedirectUrisField } from '../register/redirect-uris-field.tsx';
import { ScopeFields } from '../scope-fields.tsx';
import { listSelectableScopes, type Scope } from '../list-selectable-scopes.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import classes from '../applications.module.css';

type Props = { readonly application: Application; readonly onClose: () => void };

/** Form that changes some fields of an application. */
function UpdateForm(props: {
  readonly form: Props;
  readonly changes: ApplicationUpdate | undefined;
  readonly fields: readonly string[];
  readonly children: (error: unknown) => ReactNode;
}): ReactNode {
  const t = useApplicationsTranslations();
  const common = useCommonTranslations();
  const { form, changes, fields, children } = props;
  const update = useApiMutation(mutations.applications.update(form.application.id), {
    changes: ['applications'],
    doneMessage: t('saved'),
    onDone: form.onClose,
  });
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (changes) update.mutate(changes);
      }}
    >
      {children(update.error)}
      <ErrorNotice error={update.error} fields={fields} />
      <FormActions submit={common('form.save')} isPending={update.isPending} isDisabled={!changes} onCancel={form.onClose} />
    </form>
  );
}

export function EditApplicationNameAndUris(form: Props): ReactNode {
  const t = useApplicationsTranslations();
  const { application } = form;
  const [name, setName] = useState(application.name);
  const [uris, setUris] = useState(application.redirect_uris.join('\n'));
  const [policyUri, setPolicyUri] = useState(application.policy_uri ?? '');
  const [tosUri, setTosUri] = useState(application.tos_uri ?? '');
  const hasUris = usesRedirectUri(findBestFittingApplicationKind(application));
  const links = { policy_uri: policyUri.trim() || null, tos_uri: tosUri.trim() || null };
  const changes =
    name.trim() === '' ? undefined : { name: name.trim(), ...links, ...(hasUris && { redirect_uris: splitLinesIntoUris(uris) }) };
  return (
    <UpdateForm form={form} changes={changes} fields={['#/name', '#/redirect_uris', '#/policy_uri', '#/tos_uri']}>
      {(error) => (
        <>
          <TextInput
            label={t('field.name')}
            required
            maxLength={100}
            autoComplete="off"
            value={name}
            error={findFieldErrorDetail(error, '#/name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {hasUris && <RedirectUrisField value={uris} error={error} onChange={setUris} />}
          {hasUris && <LinkField name="policy_uri" value={policyUri} error={error} onChange={setPolicyUri} />}
          {hasUris && <LinkField name="tos_uri" value={tosUri} error={error} onChange={setTosUri} />}
        </>
      )}
    </UpdateForm>
  );
}

type LinkFieldProps = {
  readonly name: 'policy_uri' | 'tos_uri';
  readonly value: string;
  readonly error: unknown;
  readonly onChange: (value: string) => void;
};

/** Field for a link that the consent page shows. */
function LinkField({ name, value, error, onChange }: LinkFieldProps): ReactNode {
  const t = useApplicationsTranslations();
  return (
    <TextInput
      label={t(`field.${name}`)}
      type="url"
      maxLength={500}
      placeholder="https://"
      value={value}
      error={findFieldErrorDetail(error, `#/${name}`)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function EditApplicationScopes(form: Props): ReactNode {
  const { application } = form;
  const available = listSelectableScopes(findBestFittingApplicationKind(application), application.first_party);
  const [scopes, setScopes] = useState<readonly Scope[]>(available.filter((scope) => application.scopes.includes(scope)));
  return (
    <UpdateForm form={form} changes={{ scopes: [...scopes] }} fields={[]}>
      {() => <ScopeFields available={available} selected={scopes} onChange={setScopes} />}
    </UpdateForm>
  );
}

export function EditApplicationUsageAndOrderLimits(form: Props): ReactNode {
  const [texts, setTexts] = useState(limitFormValuesFromApplication(form.application));
  return (
    <UpdateForm
      form={form}
      changes={areLimitFormValuesValid(texts) ? parseLimitFormValues(texts) : undefined}
      fields={limitFormErrorPointers}
    >
      {(error) => <UsageAndOrderLimitFields texts={texts} error={error} onChange={setTexts} />}
    </UpdateForm>
  );
}
