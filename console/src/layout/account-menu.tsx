import { useSession } from '@mandate/client-sdk/react';
import { Menu, VisuallyHidden, useMantineColorScheme } from '@mantine/core';
import type { ReactNode } from 'react';
import { usePermissions } from '../api/permissions.tsx';
import { Icon } from '../components/icon.tsx';
import { consoleEnvironment } from '../console-environment.ts';
import { languageNames, setLanguage, type Language } from '../languages/language-store.ts';
import { useCommonTranslations, useLanguage } from '../languages/use-translations.tsx';
import classes from './navigation.module.css';

export const selectableColorSchemes = ['light', 'dark', 'auto'] as const;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of this object are the languages
export const selectableLanguages = Object.keys(languageNames) as readonly Language[];

export function AccountMenu(): ReactNode {
  const t = useCommonTranslations();
  const { signOut } = useSession();
  const { user } = usePermissions();
  return (
    <Menu position="top-start" width={220} withinPortal>
      <Menu.Target>
        <button type="button" className={classes['account']}>
          <VisuallyHidden>{t('menu.account')}</VisuallyHidden>
          <span className={classes['avatar']} aria-hidden="true">
            {initialsOf(user?.name ?? '')}
          </span>
          <span className={classes['who']}>
            <span>{user?.name ?? t('menu.yourAccount')}</span>
            <span className={classes['email']}>{user?.email}</span>
          </span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <AppearanceAndLanguageItems />
        <Menu.Divider />
        <Menu.Item component="a" href={`${consoleEnvironment.issuer}/account`}>
          {t('menu.yourAccount')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="signOut" size={16} />} onClick={() => void signOut()}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const checkMark = (isSelected: boolean): ReactNode => isSelected && <Icon name="check" size={16} />;

function AppearanceAndLanguageItems(): ReactNode {
  const t = useCommonTranslations();
  const language = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Menu.Label>{t('menu.appearance')}</Menu.Label>
      {selectableColorSchemes.map((appearance) => (
        <Menu.Item key={appearance} rightSection={checkMark(appearance === colorScheme)} onClick={() => setColorScheme(appearance)}>
          {t(`appearance.${appearance}`)}
        </Menu.Item>
      ))}
      <Menu.Label>{t('menu.language')}</Menu.Label>
      {selectableLanguages.map((tag) => (
        <Menu.Item key={tag} lang={tag} rightSection={checkMark(tag === language)} onClick={() => setLanguage(tag)}>
          {languageNames[tag]}
        </Menu.Item>
      ))}
    </>
  );
}

function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  return [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => word?.slice(0, 1) ?? '').join('');
}
