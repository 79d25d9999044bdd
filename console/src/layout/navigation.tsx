import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { useLiveEventsContext } from '../api/live-events.tsx';
import { Icon } from '../components/icon.tsx';
import { useCommonTranslations } from '../languages/use-translations.tsx';
import type { PageDefinition } from '../pages.ts';
import { AccountMenu } from './account-menu.tsx';
import { ShopLogoAndName } from './shop-logo-and-name.tsx';
import classes from './navigation.module.css';

type Props = { readonly pages: readonly PageDefinition[]; readonly onOpenPalette: () => void };

export function Navigation({ pages, onOpenPalette }: Props): ReactNode {
  const t = useCommonTranslations();
  return (
    <div className={classes['navigation']}>
      <div className={classes['shop']}>
        <ShopLogoAndName />
        <LiveDot />
      </div>
      <button type="button" className={classes['search']} onClick={onOpenPalette}>
        <Icon name="search" size={16} />
        <span>{t('palette.open')}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label={t('navigation')}>
        <ul>
          {pages.map(({ id, path, icon }) => (
            <li key={id}>
              <NavLink to={path} end={path === '/'} className={classes['link'] ?? ''}>
                <Icon name={icon} />
                {t(`page.${id}`)}
              </NavLink>
            </li>
          ))}
        </ul>
      </nav>
      <AccountMenu />
    </div>
  );
}

function LiveDot(): ReactNode {
  const t = useCommonTranslations();
  const { isLive } = useLiveEventsContext();
  const label = t(isLive ? 'live.on' : 'live.off');
  return <span role="img" className={classes['live']} data-live={isLive} aria-label={label} title={label} />;
}
