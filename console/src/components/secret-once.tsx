import { Button, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useCommonMessages } from '../languages/use-messages.tsx';
import { Icon } from './icon.tsx';
import classes from './secret-once.module.css';

type Props = {
  readonly label: string;
  /** The secret; `null` if the API has already returned it in a response that was lost. */
  readonly secret: string | null;
  readonly onDone: () => void;
};

/** Shows a secret that the API returns only once. */
export function SecretOnce({ label, secret, onDone }: Props): ReactNode {
  const t = useCommonMessages();
  const clipboard = useClipboard();
  return (
    <div className={classes['secret']}>
      <p className={classes['warning']}>
        <Icon name="alert" />
        {t(secret === null ? 'secret.lost' : 'secret.once')}
      </p>
      {secret !== null && (
        <div className={classes['row']}>
          <TextInput
            className={classes['input'] ?? ''}
            classNames={{ input: classes['code'] ?? '' }}
            label={label}
            value={secret}
            readOnly
            data-autofocus
            onFocus={(event) => event.currentTarget.select()}
          />
          <Button variant="default" onClick={() => clipboard.copy(secret)}>
            {t(clipboard.copied ? 'secret.copied' : 'secret.copy')}
          </Button>
        </div>
      )}
      <div className={classes['done']}>
        <Button onClick={onDone}>{t('secret.done')}</Button>
      </div>
    </div>
  );
}
