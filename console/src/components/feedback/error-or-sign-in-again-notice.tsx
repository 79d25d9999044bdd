import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { isSignInTooOldError, signInAgain } from '../../api/sign-in-again.ts';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { Notice } from './notice.tsx';

type Props = {
  readonly error: unknown;
  readonly fields?: readonly string[];
  /** Scopes that the action requires in addition to those that the console requests. */
  readonly scopes?: readonly string[];
};

/** Shows the error of an action that requires a recent sign-in. */
export function ErrorOrSignInAgainNotice({ error, fields = [], scopes = [] }: Props): ReactNode {
  const t = useCommonTranslations();
  if (!isSignInTooOldError(error)) return <ErrorNotice error={error} fields={fields} />;
  return (
    <Notice text={t('signInAgain.about')}>
      <Button size="xs" onClick={() => void signInAgain(scopes)}>
        {t('signInAgain.action')}
      </Button>
    </Notice>
  );
}
