import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { NavLink, useSearchParams } from 'react-router';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { Icon } from '../icon.tsx';
import { SavedViews } from './saved-views.tsx';
import { useSetUrlFilterAndResetPage } from './use-set-url-filter-and-reset-page.ts';
import classes from './list-toolbar.module.css';

/** A tab of a list: a filter with a name. The tab with the value `all` is the default. */
export type ListTab = { readonly value: string; readonly name: string };

type Props = {
  /** Name of the list, which identifies its saved views in this browser. */
  readonly list: string;
  readonly tabs?: readonly ListTab[];
  /** Label of the search field; without it, the list has no search. */
  readonly searchLabel?: string;
  /** Additional filters, which set URL parameters, so that links and saved views include the filters. */
  readonly children?: ReactNode;
};

/** Tabs, search and saved views of a list. The URL parameters contain the state: `tab`, `q` and any others except `cursor`. */
export function ListToolbar({ list, tabs = [], searchLabel, children }: Props): ReactNode {
  return (
    <div className={classes['toolbar']}>
      {tabs.length > 0 && <Tabs tabs={tabs} />}
      <div className={classes['filters']}>
        {searchLabel !== undefined && <SearchField label={searchLabel} />}
        {children}
        <SavedViews list={list} />
      </div>
    </div>
  );
}

function Tabs({ tabs }: { readonly tabs: readonly ListTab[] }): ReactNode {
  const [parameters] = useSearchParams();
  const selected = parameters.get('tab') ?? 'all';
  const searchOf = (tab: string): string => {
    const next = new URLSearchParams(parameters);
    next.delete('cursor');
    if (tab === 'all') next.delete('tab');
    else next.set('tab', tab);
    return next.toString();
  };
  return (
    <ul className={classes['tabs']}>
      {tabs.map(({ value, name }) => (
        <li key={value}>
          <NavLink to={{ search: searchOf(value) }} aria-current={value === selected ? 'true' : 'false'} className={classes['tab'] ?? ''}>
            {name}
          </NavLink>
        </li>
      ))}
    </ul>
  );
}

const searchDelayMs = 300;

function SearchField({ label }: { readonly label: string }): ReactNode {
  const t = useCommonTranslations();
  const [parameters] = useSearchParams();
  const setFilter = useSetUrlFilterAndResetPage();
  const current = parameters.get('q') ?? '';
  const [text, setText] = useState(current);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The URL can change even if the user types nothing, for example when the user selects a saved view. The URL never contains the trailing
  // spaces of the text.
  useEffect(() => setText((before) => (before.trim() === current ? before : current)), [current]);
  const search = (value: string): void => setFilter('q', value.trim(), { replace: true });
  const change = (value: string): void => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(value), searchDelayMs);
  };
  return (
    <TextInput
      className={classes['search'] ?? ''}
      type="search"
      aria-label={label}
      placeholder={t('list.search')}
      title={label}
      leftSection={<Icon name="search" size={16} />}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
