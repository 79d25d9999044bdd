import { Checkbox } from '@mantine/core';
import type { ReactNode } from 'react';
import { isScopeForAllShopData, type Scope } from './list-selectable-scopes.ts';
import { useApplicationsTranslations } from './use-applications-translations.ts';
import classes from './applications.module.css';

type Props = {
  /** Scopes that can be selected. */
  readonly available: readonly Scope[];
  readonly selected: readonly Scope[];
  readonly onChange: (selected: readonly Scope[]) => void;
};

/** Checkboxes for scopes, with descriptions. */
export function ScopeFields({ available, selected, onChange }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const groups = [
    { title: t('scopes.user'), members: available.filter((scope) => !isScopeForAllShopData(scope)) },
    { title: t('scopes.shop'), members: available.filter(isScopeForAllShopData) },
  ];
  const toggle = (scope: Scope, isChecked: boolean): void =>
    onChange(isChecked ? [...selected, scope] : selected.filter((other) => other !== scope));
  return groups.map(({ title, members }) => (
    <fieldset key={title} className={classes['fieldset']}>
      <legend>{title}</legend>
      {members.map((scope) => (
        <Checkbox
          key={scope}
          label={t.value('scope', scope)}
          description={scope}
          checked={selected.includes(scope)}
          onChange={(event) => toggle(scope, event.currentTarget.checked)}
        />
      ))}
    </fieldset>
  ));
}
