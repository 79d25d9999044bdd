import { Button, CopyButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApplicationsMessages } from '../use-applications-messages.ts';
import classes from './code.module.css';

/** A client secret, which the server shows only once. */
export function SecretOnce({ secret }: { readonly secret: string }): ReactNode {
  const t = useApplicationsMessages();
  return (
    <div className={classes['secret']}>
      <p>
        <strong>{t('secret.title')}</strong>
      </p>
      <p>{t('secret.about')}</p>
      <div className={classes['value']}>
        <code>{secret}</code>
        <Copy text={secret} />
      </div>
    </div>
  );
}

export function Copy({ text }: { readonly text: string }): ReactNode {
  const t = useApplicationsMessages();
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="xs" variant="default" onClick={copy}>
          {copied ? t('copied') : t('copy')}
        </Button>
      )}
    </CopyButton>
  );
}
