import { createAccountWithVerifiedEmail } from '../../../server/oauth/accounts/accounts-and-passwords.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { hashPassword } from '../../../server/oauth/passwords/password-hash.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { issuer, sendThroughProxy } from './tls-proxy.ts';

/** Number of concurrent sign-ins. Additional concurrent sign-ins would only wait for password hashing. */
const batchSize = 4;

/** Creates users in `db` and signs in each user with a separate browser. Without `db`, the browsers are not signed in. */
export async function openSignedInBrowsers(origin: string, count: number, db?: Database): Promise<readonly HttpBrowser[]> {
  const browsers = Array.from({ length: count }, () => new HttpBrowser(issuer, undefined, sendThroughProxy(origin)));
  if (!db) return browsers;
  const password = 'benchmark user password';
  const passwordHash = await hashPassword(password);
  await mapInBatches(browsers, async (browser, at) => {
    const email = `bench.${at}@example.com`;
    await createAccountWithVerifiedEmail(db.em.fork(), { name: `Person ${at}`, email, passwordHash }, new Date());
    const page = await browser.submit(await browser.open('/sign-in'), { email, password });
    if (page.url.pathname !== '/account') throw new Error(`sign-in led to ${page.url.pathname}: ${page.text}`);
  });
  return browsers;
}

/** Maps items in small concurrent batches, and returns the results in the order of the items. */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += batchSize)
    results.push(...(await Promise.all(items.slice(from, from + batchSize).map((item, at) => work(item, from + at)))));
  return results;
}
