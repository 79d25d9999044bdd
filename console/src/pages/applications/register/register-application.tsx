import type { ApplicationWithSecret } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { mutations } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { SecretShownOnce } from '../../../components/forms/secret-shown-once.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { usesRedirectUri, typeAndGrantTypesByApplicationKind } from '../application-kinds.ts';
import { CodeExample } from '../code/code-example.tsx';
import {
  UsageAndOrderLimitFields,
  areLimitFormValuesValid,
  limitFormErrorPointers,
  parseLimitFormValues,
} from '../usage-and-order-limit-fields.tsx';
import { ScopeFields } from '../scope-fields.tsx';
import { listSelectableScopes } from '../list-selectable-scopes.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import { emptyApplicationDraft, splitLinesIntoUris, type ApplicationDraft } from './application-draft.ts';
import { NameAndKindFields } from './name-and-kind-fields.tsx';
import { RedirectUrisField } from './redirect-uris-field.tsx';
import { RegistrationStepList } from './registration-step-list.tsx';
import classes from '../applications.module.css';

type Step = 'kind' | 'redirects' | 'scopes' | 'limits';

/** Wizard that registers an application, and then shows its secret and example code. */
export function RegisterApplication(): ReactNode {
  const t = useApplicationsTranslations();
  const common = useCommonTranslations();
  const [draft, setDraft] = useState(emptyApplicationDraft);
  const [step, setStep] = useState<Step>('kind');
  const register = useApiMutation(mutations.applications.create(), { changes: ['applications'], doneMessage: t('register.done') });
  const steps: readonly Step[] = usesRedirectUri(draft.kind) ? ['kind', 'redirects', 'scopes', 'limits'] : ['kind', 'scopes', 'limits'];
  const at = steps.indexOf(step);
  const next = (): void => {
    const following = steps[at + 1];
    if (following !== undefined) setStep(following);
    else register.mutate(requestOf(draft));
  };
  return (
    <>
      <PageHeader title={t('register.title')} parent={{ to: '/applications', name: common('page.applications') }} />
      {register.data ? (
        <Registered application={register.data} />
      ) : (
        <Card>
          <RegistrationStepList names={steps.map((name) => t(`step.${name}`))} current={at} />
          <form
            className={classes['form']}
            onSubmit={(event) => {
              event.preventDefault();
              if (isComplete(step, draft)) next();
            }}
          >
            <StepFields step={step} draft={draft} error={register.error} onChange={setDraft} />
            <ErrorNotice error={register.error} fields={step === 'limits' ? limitFormErrorPointers : []} />
            <div className={classes['buttons']}>
              {at > 0 && (
                <Button variant="default" onClick={() => setStep(steps[at - 1] ?? 'kind')}>
                  {t('step.back')}
                </Button>
              )}
              <Button type="submit" loading={register.isPending} disabled={!isComplete(step, draft)}>
                {at === steps.length - 1 ? t('register.action') : t('step.next')}
              </Button>
            </div>
          </form>
        </Card>
      )}
    </>
  );
}

type StepProps = {
  readonly step: Step;
  readonly draft: ApplicationDraft;
  readonly error: unknown;
  readonly onChange: (draft: ApplicationDraft) => void;
};

function StepFields({ step, draft, error, onChange }: StepProps): ReactNode {
  if (step === 'kind') return <NameAndKindFields draft={draft} onChange={onChange} />;
  if (step === 'redirects')
    return <RedirectUrisField value={draft.redirectUris} error={error} onChange={(redirectUris) => onChange({ ...draft, redirectUris })} />;
  if (step === 'scopes')
    return (
      <ScopeFields
        available={listSelectableScopes(draft.kind, draft.isFirstParty)}
        selected={draft.scopes}
        onChange={(scopes) => onChange({ ...draft, scopes })}
      />
    );
  return <UsageAndOrderLimitFields texts={draft.limits} error={error} onChange={(limits) => onChange({ ...draft, limits })} />;
}

/** Returns whether the step has all required values, so that the next step can be shown. */
function isComplete(step: Step, { name, redirectUris, scopes, limits }: ApplicationDraft): boolean {
  if (step === 'kind') return name.trim() !== '';
  if (step === 'redirects') return splitLinesIntoUris(redirectUris).length > 0;
  return step === 'scopes' ? scopes.length > 0 : areLimitFormValuesValid(limits);
}

/** If the user has changed the kind, the selection may contain scopes that the new kind cannot have. */
const requestOf = ({ name, kind, isFirstParty, redirectUris, scopes, limits }: ApplicationDraft) => ({
  ...typeAndGrantTypesByApplicationKind[kind],
  grant_types: [...typeAndGrantTypesByApplicationKind[kind].grant_types],
  name: name.trim(),
  first_party: isFirstParty,
  redirect_uris: usesRedirectUri(kind) ? splitLinesIntoUris(redirectUris) : [],
  scopes: listSelectableScopes(kind, isFirstParty).filter((scope) => scopes.includes(scope)),
  ...parseLimitFormValues(limits),
});

function Registered({ application }: { readonly application: ApplicationWithSecret }): ReactNode {
  const t = useApplicationsTranslations();
  return (
    <Card title={t('register.registered', { name: application.name })}>
      <div className={classes['form']}>
        <p>{t.rich('register.clientId', { id: <code>{application.client_id}</code> })}</p>
        {application.client_secret !== null && <SecretShownOnce label={t('secret.title')} secret={application.client_secret} />}
        <h3>{t('code.title')}</h3>
        <CodeExample application={application} />
        <div className={classes['buttons']}>
          <Button component={Link} to={`/applications/${application.id}`}>
            {t('register.toApplication')}
          </Button>
        </div>
      </div>
    </Card>
  );
}
