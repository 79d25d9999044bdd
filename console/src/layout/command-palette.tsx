import '@mantine/spotlight/styles.layer.css';
import { useMantineColorScheme } from '@mantine/core';
import { Spotlight, spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { useSession } from '@mandate/client-sdk/react';
import { useEffect, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { usePermissions } from '../api/permissions.tsx';
import { Icon } from '../components/icon.tsx';
import { languageNames, setLanguage } from '../languages/language-store.ts';
import { useCommonTranslations } from '../languages/use-translations.tsx';
import type { PageDefinition } from '../pages.ts';
import { selectableColorSchemes, selectableLanguages } from './account-menu.tsx';

type Props = {
  readonly pages: readonly PageDefinition[];
  /** Number of times that the user has opened the palette. */
  readonly openings: number;
};

/** Lets users open pages and orders and run commands with the keyboard. */
export function CommandPalette({ pages, openings }: Props): ReactNode {
  const t = useCommonTranslations();
  const [text, setText] = useState('');
  const pageActions = usePageActions(pages);
  const orderActions = useOrderActions(text.trim());
  // A page whose name contains the entered text is selected first, so that Enter opens the page instead of searching the orders.
  const isPageName = pageActions.actions.some(({ label }) => label?.toLowerCase().includes(text.trim().toLowerCase()));
  const actions = [...(isPageName ? [pageActions, ...orderActions] : [...orderActions, pageActions]), useCommandActions()];
  useEffect(() => spotlight.open(), [openings]);
  return (
    <Spotlight
      actions={actions}
      query={text}
      onQueryChange={setText}
      attributes={{ content: { 'aria-label': t('palette.open') } }}
      nothingFound={t('palette.empty')}
      highlightQuery
      shortcut={null}
      scrollable
      maxHeight={420}
      searchProps={{ leftSection: <Icon name="search" />, placeholder: t('palette.placeholder'), 'aria-label': t('palette.open') }}
    />
  );
}

function usePageActions(pages: readonly PageDefinition[]): SpotlightActionGroupData {
  const t = useCommonTranslations();
  const navigate = useNavigate();
  const actions = pages.map(({ id, path, icon }): SpotlightActionData => {
    const open = (): void => void navigate(path);
    return { id: `page ${id}`, label: t(`page.${id}`), leftSection: <Icon name={icon} />, onClick: open };
  });
  return { group: t('palette.pages'), actions };
}

/**
 * Actions for the number or text that the user has entered. Each action has the entered text as a keyword, so that the palette always finds
 * the action.
 */
function useOrderActions(text: string): SpotlightActionGroupData[] {
  const t = useCommonTranslations();
  const navigate = useNavigate();
  if (!usePermissions().can('orders.list') || text === '') return [];
  const isNumber = /^\d{1,15}$/.test(text);
  const open = { id: 'open order', label: t('palette.openOrder', { number: text }), onClick: () => void navigate(`/orders/${text}`) };
  const search = {
    id: 'search orders',
    label: t('palette.searchOrders', { text }),
    onClick: () => void navigate(`/orders?q=${encodeURIComponent(text)}`),
  };
  const actions = [...(isNumber ? [open] : []), search].map((action) => ({
    ...action,
    keywords: [text],
    leftSection: <Icon name="orders" />,
  }));
  return [{ group: t('palette.orders'), actions }];
}

function useCommandActions(): SpotlightActionGroupData {
  const t = useCommonTranslations();
  const { signOut } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const actions: SpotlightActionData[] = [
    ...selectableColorSchemes.map((appearance) => ({
      id: `appearance ${appearance}`,
      label: t('palette.useAppearance', { name: t(`appearance.${appearance}`) }),
      leftSection: <Icon name="sun" />,
      onClick: () => setColorScheme(appearance),
    })),
    ...selectableLanguages.map((tag) => ({
      id: `language ${tag}`,
      label: t('palette.useLanguage', { name: languageNames[tag] }),
      leftSection: <Icon name="language" />,
      onClick: () => setLanguage(tag),
    })),
    { id: 'sign out', label: t('signOut'), leftSection: <Icon name="signOut" />, onClick: () => void signOut() },
  ];
  return { group: t('palette.commands'), actions };
}
