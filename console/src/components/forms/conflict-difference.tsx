import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { Icon } from '../icon.tsx';
import classes from './conflict-difference.module.css';

/** A field whose saved value differs from the value that this user wanted to save. */
export type FieldDifference = { readonly field: string; readonly theirs: string | null; readonly yours: string | null };

type Props = {
  readonly differences: readonly FieldDifference[];
  readonly isSaving: boolean;
  readonly onKeepTheirs: () => void;
  readonly onOverwrite: () => void;
};

/** Shown if a change failed with `precondition_failed`. Compares the saved values with the values that the user wanted to save. */
export function ConflictDifference({ differences, isSaving, onKeepTheirs, onOverwrite }: Props): ReactNode {
  const t = useCommonTranslations();
  return (
    <div role="alert" className={classes['conflict']}>
      <p className={classes['title']}>
        <Icon name="alert" />
        <strong>{t('conflict.title')}</strong>
      </p>
      <p>{t('conflict.about')}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('conflict.field')}</th>
            <th scope="col">{t('conflict.theirs')}</th>
            <th scope="col">{t('conflict.yours')}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, theirs, yours }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>
                <del>{theirs ?? t('conflict.empty')}</del>
              </td>
              <td>
                <ins>{yours ?? t('conflict.empty')}</ins>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className={classes['actions']}>
        <Button size="xs" variant="default" onClick={onKeepTheirs}>
          {t('conflict.keepTheirs')}
        </Button>
        <Button size="xs" loading={isSaving} onClick={onOverwrite}>
          {t('conflict.overwrite')}
        </Button>
      </div>
    </div>
  );
}
