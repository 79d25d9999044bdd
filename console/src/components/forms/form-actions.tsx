import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import classes from './form-actions.module.css';

type Props = {
  readonly submit: string;
  readonly isPending: boolean;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly onCancel: () => void;
};

/** Buttons at the end of a form. */
export function FormActions({ submit, isPending, isDangerous = false, isDisabled = false, onCancel }: Props): ReactNode {
  const t = useCommonTranslations();
  return (
    <div className={classes['actions']}>
      <Button variant="default" onClick={onCancel}>
        {t('form.cancel')}
      </Button>
      <Button type="submit" loading={isPending} disabled={isDisabled} {...(isDangerous && { color: 'red.9' })}>
        {submit}
      </Button>
    </div>
  );
}
