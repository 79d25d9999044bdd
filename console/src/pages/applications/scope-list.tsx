import type { ReactNode } from 'react';
import { isScopeForAllShopData } from './list-selectable-scopes.ts';
import { useApplicationsTranslations } from './use-applications-translations.ts';
import classes from './applications.module.css';

/** Describes scopes: first those that permit access to all of the shop's data, then those that permit access to the user's data. */
export function ScopeList({ scopes }: { readonly scopes: readonly string[] }): ReactNode {
  const t = useApplicationsTranslations();
  if (scopes.length === 0) return <p>{t('scopes.none')}</p>;
  const groups = [
    { title: t('scopes.shop'), members: scopes.filter(isScopeForAllShopData) },
    { title: t('scopes.user'), members: scopes.filter((scope) => !isScopeForAllShopData(scope)) },
  ];
  return groups
    .filter(({ members }) => members.length > 0)
    .map(({ title, members }) => (
      <div key={title} className={classes['group']}>
        <h3>{title}</h3>
        <ul className={classes['scopes']}>
          {members.map((scope) => (
            <li key={scope}>
              {t.value('scope', scope)} <code>{scope}</code>
            </li>
          ))}
        </ul>
      </div>
    ));
}
