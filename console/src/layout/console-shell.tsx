import { Drawer } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Suspense, lazy, useEffect, useState, type ReactNode } from 'react';
import { Route, Routes, useLocation } from 'react-router';
import { usePermissions } from '../api/permissions.tsx';
import { ErrorBoundary } from '../components/feedback/error-boundary.tsx';
import { Icon } from '../components/icon.tsx';
import { useCommonTranslations, useLanguage } from '../languages/use-translations.tsx';
import { pages, type PageDefinition } from '../pages.ts';
import { Navigation } from './navigation.tsx';
import { NoAccessPage } from './no-access-page.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { PageSkeleton } from './page-skeleton.tsx';
import { ShopLogoAndName } from './shop-logo-and-name.tsx';
import classes from './shell.module.css';

const CommandPalette = lazy(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }));

const routes = pages.map(({ id, path, load }) => ({
  id,
  path: path === '/' ? '/' : `${path}/*`,
  Page: lazy(async () => ({ default: await load() })),
}));

/** Returns the pages that the user is permitted to open. */
function usePermittedPages(): readonly PageDefinition[] {
  const { can } = usePermissions();
  return pages.filter(({ operations }) => operations.some(can));
}

/** The layout of all pages: navigation, command palette and content. */
export function ConsoleShell(): ReactNode {
  const t = useCommonTranslations();
  const language = useLanguage();
  const permittedPages = usePermittedPages();
  const { isStaff } = usePermissions();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [paletteOpenings, setPaletteOpenings] = useState(0);
  const openPalette = (): void => {
    menu.close();
    setPaletteOpenings((count) => count + 1);
  };
  useHotkeys([['mod+K', openPalette]], []);
  const { pathname } = useLocation();
  useEffect(menu.close, [pathname]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  if (!isStaff) return <NoAccessPage />;
  return (
    <div className={classes['shell']}>
      <a className={classes['skip']} href="#content">
        {t('skip')}
      </a>
      <aside className={classes['sidebar']}>
        <Navigation pages={permittedPages} onOpenPalette={openPalette} />
      </aside>
      <section className={classes['header']} aria-label={t('title')}>
        <button type="button" className={classes['headerButton']} aria-label={t('menu.open')} onClick={menu.open}>
          <Icon name="menu" size={20} />
        </button>
        <ShopLogoAndName />
        <button type="button" className={classes['headerButton']} aria-label={t('palette.open')} onClick={openPalette}>
          <Icon name="search" size={20} />
        </button>
      </section>
      <Drawer.Root opened={isMenuOpen} onClose={menu.close} size={264} padding={0}>
        <Drawer.Overlay />
        <Drawer.Content aria-label={t('navigation')}>
          <div className={classes['drawer']}>
            <Navigation pages={permittedPages} onOpenPalette={openPalette} />
          </div>
        </Drawer.Content>
      </Drawer.Root>
      <main id="content" className={classes['content']} tabIndex={-1}>
        <CurrentPage permittedPages={permittedPages} />
      </main>
      {paletteOpenings > 0 && (
        <Suspense>
          <CommandPalette pages={permittedPages} openings={paletteOpenings} />
        </Suspense>
      )}
    </div>
  );
}

function CurrentPage({ permittedPages }: { readonly permittedPages: readonly PageDefinition[] }): ReactNode {
  const { pathname } = useLocation();
  return (
    // A new key resets the error boundary when the user opens another page.
    <ErrorBoundary key={pathname}>
      <Suspense fallback={<PageSkeleton />}>
        <Routes>
          {routes
            .filter(({ id }) => permittedPages.some((page) => page.id === id))
            .map(({ id, path, Page }) => (
              <Route key={id} path={path} element={<Page />} />
            ))}
          <Route path="*" element={<NotFoundPage />} />
        </Routes>
      </Suspense>
    </ErrorBoundary>
  );
}
