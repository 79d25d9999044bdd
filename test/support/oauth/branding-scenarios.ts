import type { Page } from 'playwright-core';
import { lockCheckAndStoreBranding } from '../../../server/branding/read-and-write-branding.ts';
import { createSquareLogo } from '../browser/square-png.ts';
import type { RunningServer } from '../server/use-server.ts';
import { signUpWithRole } from './oauth-flow.ts';
import { signInAs } from './page-scenarios.ts';

/**
 * Returns functions that open the branding page. Run these functions after all other scenarios, because the branding changes every page.
 */
export function createBrandingScenarios(server: RunningServer): Record<string, (page: Page) => Promise<void>> {
  const openBranding = async (page: Page): Promise<void> => {
    await signInAs(server, page, await signUpWithRole(server.db, server.origin, 'admin'));
    await page.goto(`${server.origin}/account/branding`);
  };
  return {
    branding: openBranding,
    'branding with errors': async (page) => {
      await openBranding(page);
      await page.getByLabel('Accent color').fill('yellow');
      await page.getByLabel('Help page').fill('shop.example');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('alert').waitFor();
    },
    'branding with a logo and links': async (page) => {
      await setLogoAndLinks(server);
      await openBranding(page);
    },
    'sign-in with a logo and links': async (page) => {
      await setLogoAndLinks(server);
      await page.goto(`${server.origin}/sign-in`);
    },
  };
}

async function setLogoAndLinks({ db }: RunningServer): Promise<void> {
  const links = {
    help_url: 'https://shop.example/help',
    terms_url: 'https://shop.example/terms',
    privacy_url: 'https://shop.example/privacy',
  };
  const change = { accent_color: '#ffd400', email_footer: 'Larkspur Ltd\n12 Market Street, Bath', logo: createSquareLogo(64), ...links };
  await db.em.fork().transactional((em) => lockCheckAndStoreBranding(em, change, () => undefined));
}
