import { ApiError, ConnectionError, SignInRequiredError, TimeoutError } from '@mandate/client-sdk';
import { useSession } from '@mandate/client-sdk/react';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { Icon } from '../icon.tsx';
import classes from './error-notice.module.css';

type Props = {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** JSON Pointers, such as `#/note`, of the fields whose errors the form itself shows. */
  readonly fields?: readonly string[];
};

/** Shows the error of an API call. Renders nothing if there is no error, or if the form shows all field errors itself. */
export function ErrorNotice({ error, onRetry, fields = [] }: Props): ReactNode {
  const t = useCommonTranslations();
  const { signIn } = useSession();
  if (error === null || error === undefined) return null;
  const problem = error instanceof ApiError ? error : undefined;
  const entries = problem?.errors.filter(({ pointer }) => pointer === undefined || !fields.includes(pointer)) ?? [];
  if (problem && problem.errors.length > 0 && entries.length === 0) return null;
  return (
    <div role="alert" className={classes['notice']}>
      <Icon name="alert" />
      <div className={classes['text']}>
        <strong>{problem?.title ?? t('error.title')}</strong>
        <p>{describeError(error, t)}</p>
        {entries.length > 0 && (
          <ul>
            {entries.map(({ detail, pointer, parameter }) => (
              <li key={`${pointer ?? parameter ?? ''} ${detail}`}>{detail}</li>
            ))}
          </ul>
        )}
        {problem?.requestId !== undefined && <p className={classes['request']}>{t('error.requestId', { id: problem.requestId })}</p>}
      </div>
      {error instanceof SignInRequiredError ? (
        <Button size="xs" onClick={() => void signIn()}>
          {t('signIn.action')}
        </Button>
      ) : (
        onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t('error.retry')}
          </Button>
        )
      )}
    </div>
  );
}

export function describeError(error: unknown, t: ReturnType<typeof useCommonTranslations>): string {
  if (error instanceof ApiError) return error.detail;
  if (error instanceof ConnectionError) return t('error.connection');
  if (error instanceof TimeoutError) return t('error.timeout');
  if (error instanceof SignInRequiredError) return t('error.signInAgain');
  return t('error.unexpected');
}

/** Returns the error for the field with this JSON Pointer, such as `#/note`. */
export const findFieldErrorDetail = (error: unknown, pointer: string): string | undefined =>
  error instanceof ApiError ? error.errors.find((entry) => entry.pointer === pointer)?.detail : undefined;
