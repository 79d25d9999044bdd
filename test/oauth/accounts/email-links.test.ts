import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { readMailLink } from '../../support/services/mailbox.ts';
import { signUp, signUpWithRole, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const serverFolder = join(import.meta.dirname, '../../../server');

type Links = { readonly reset: string; readonly emailChange: string };

async function mailLinksTo(anna: TestUser): Promise<Links> {
  const browser = new HttpBrowser(server.origin);
  await browser.submit(await browser.open('/password-reset'), { email: anna.email });
  return { reset: await readMailLink(server.origin, anna.email), emailChange: await mailEmailChange(anna) };
}

async function mailEmailChange({ browser }: TestUser): Promise<string> {
  const email = `new.${randomUUID()}@example.com`;
  await browser.submit(await browser.open('/account/email'), { email });
  return readMailLink(server.origin, email);
}

/** Changes the user's e-mail address as staff, and returns the new address, which the user must confirm. */
async function changeAddressAsStaff(id: number): Promise<string> {
  const staff = await signUpWithRole(server.db, server.origin, 'staff');
  const { access_token: token } = await obtainTokens(server.origin, staff, ['users.manage']);
  const email = `staff.${randomUUID()}@example.com`;
  const changed = await fetch(`${server.origin}/api/v1/users/${id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  });
  expect(changed.status).toBe(200);
  return email;
}

const isUsable = async (link: string): Promise<boolean> => {
  const { response, text } = await new HttpBrowser(server.origin).open(link);
  expect(response.status === 400).toBe(text.includes('This link is no longer valid'));
  return response.status === 200;
};

/** User actions that invalidate e-mail links, keyed by the file whose code invalidates the links. */
const linkInvalidations: Readonly<Record<string, (anna: TestUser, links: Links) => Promise<void>>> = {
  'oauth/pages/handlers/account/change-password.ts': async ({ browser }) => {
    const done = await browser.submit(await browser.open('/account/password'), { password: 'staple battery horse correct' });
    expect(done.text).toContain('Your password has been changed');
  },
  'oauth/pages/handlers/sign-in/reset-password.ts': async (_anna, { reset }) => {
    const browser = new HttpBrowser(server.origin);
    const done = await browser.submit(await browser.open(reset), { password: 'staple battery horse correct' });
    expect(done.text).toContain('Your password has been changed');
  },
  'oauth/pages/emails/delete-links-and-notify-on-email-change.ts': async ({ id }) => {
    await changeAddressAsStaff(id);
  },
  'oauth/pages/handlers/account/change-email.ts': async (anna) => {
    const confirmation = await readMailLink(server.origin, await changeAddressAsStaff(anna.id));
    const laterLink = await mailEmailChange(anna);
    expect(await isUsable(laterLink)).toBe(true);
    const browser = new HttpBrowser(server.origin);
    expect((await browser.submit(await browser.open(confirmation), {})).text).toContain('confirmed');
    expect(await isUsable(laterLink)).toBe(false);
  },
  'oauth/grants/revoke-access-of-suspended-or-closed-user.ts': async ({ browser }) => {
    expect((await browser.submit(await browser.open('/account/close'), {})).response.status).toBe(200);
  },
};

test('the tests below cover every file that invalidates mailed links', () => {
  // the deletion of expired rows is not an invalidation
  const invalidationPattern =
    /\b(?:deleteEmailedLinksOfUser|deleteEmailedLinksOfUserAndAddresses)\(|\(EmailedOneTimeLink\b|(?<!deleteExpiredEmailedLinksBatch = deleteFrom\()'mailed_links'/;
  const found = globSync('**/*.ts', { cwd: serverFolder })
    .filter((file) => !/node_modules|migrations|emailed-one-time-link/.test(file))
    .filter((file) => invalidationPattern.test(readFileSync(join(serverFolder, file), 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(linkInvalidations).toSorted());
});

test.each(Object.entries(linkInvalidations))('%s invalidates every link that was mailed to the user before', async (_file, invalidate) => {
  const anna = await signUp(server.origin);
  const links = await mailLinksTo(anna);
  expect([await isUsable(links.reset), await isUsable(links.emailChange)]).toEqual([true, true]);
  await invalidate(anna, links);
  expect([await isUsable(links.reset), await isUsable(links.emailChange)]).toEqual([false, false]);
});
