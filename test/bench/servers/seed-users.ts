import { createAccount } from '../../../server/oauth/accounts/account-store.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { hashPassword } from '../../../server/oauth/passwords/password-hash.ts';
import { Browser } from '../../support/browser/browser.ts';
import { issuer, proxyTo } from './load-balancer.ts';

/** More would wait for their passwords to be checked. */
const atOnce = 4;

/** So many people who have accounts in `db`, each signed in in a browser of their own; without it there are no accounts, and nobody is asked. */
export async function signedIn(origin: string, count: number, db?: Database): Promise<readonly Browser[]> {
  const browsers = Array.from({ length: count }, () => new Browser(issuer, undefined, proxyTo(origin)));
  if (!db) return browsers;
  const password = 'as good as any other';
  const passwordHash = await hashPassword(password);
  await eachOf(browsers, async (browser, at) => {
    const email = `bench.${at}@example.com`;
    await createAccount(db.em.fork(), { name: `Person ${at}`, email, passwordHash }, new Date());
    const page = await browser.submit(await browser.open('/sign-in'), { email, password });
    if (page.url.pathname !== '/account') throw new Error(`sign-in ended at ${page.url.pathname}: ${page.text}`);
  });
  return browsers;
}

/** A few at a time; results in the order of what it is given. */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map((item, at) => work(item, from + at)))));
  return results;
}
