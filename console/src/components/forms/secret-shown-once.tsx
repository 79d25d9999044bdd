import { Button, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { CopyTextButton } from './copy-text-button.tsx';
import { Icon } from '../icon.tsx';
import classes from './secret-shown-once.module.css';

type Props = {
  readonly label: string;
  /** The secret; `null` if the secret was in an earlier response that was lost. */
  readonly secret: string | null;
  /** Called when the user confirms that the secret has been stored. Without this function, no button is shown. */
  readonly onDone?: () => void;
  /** More information about the secret. */
  readonly children?: ReactNode;
};

/** Shows a secret that the API returns only once. */
export function SecretShownOnce({ label, secret, onDone, children }: Props): ReactNode {
  const t = useCommonTranslations();
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
          <CopyTextButton text={secret} />
        </div>
      )}
      {children}
      {onDone && (
        <div className={classes['done']}>
          <Button onClick={onDone}>{t('secret.done')}</Button>
        </div>
      )}
    </div>
  );
}
