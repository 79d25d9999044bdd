import { describe, expect, test } from 'vitest';
import { addAuthenticatorApp, readAuditTrail } from '../../support/oauth/credentials.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { extractLink, readLastMailTo } from '../../support/services/mailbox.ts';
import { connectRequestingApplication, requestApprovalOf60, type RequestingApplication } from '../../support/shop/approval-requests.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { useEventJobs } from '../../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);

const readStatus = async (app: RequestingApplication, id: number): Promise<string> =>
  (await app.call('GET', `/approvals/${id}`)).body.status;

async function requestAsApplication() {
  const anna = await signUp(shop.origin);
  const app = await connectRequestingApplication(shop, anna);
  const { id, quote_id: quoteId } = await requestApprovalOf60(app);
  return { anna, app, id, quoteId, path: `/account/approvals/${id}` };
}

const decideOnPage = async ({ browser }: Pick<TestUser, 'browser'>, path: string, decision: string) =>
  submitFormContaining(browser, await browser.open(path), 'name="decision"', { decision });

describe('the e-mail about a request', () => {
  test('states the application, the order, the amount and the limit, and its link opens a page that decides nothing', async () => {
    const { anna, app, id, path } = await requestAsApplication();
    const mail = await readLastMailTo(shop.origin, anna.email);
    expect(mail.subject).toContain('Test application asks for your approval');
    for (const part of ['€60.00', '1 × White hanging heart: €60.00', 'to €50.00 per order', 'The printer needs paper_'.slice(0, -1)])
      expect(
        [mail.text, mail.html].every((text) => text.includes(part)),
        part,
      ).toBe(true);
    expect(extractLink(mail)).toBe(`${shop.origin}${path}`);
    const page = await anna.browser.open(extractLink(mail));
    expect(page.text).toContain('Test application wants to place an order for €60.00');
    expect(await readStatus(app, id)).toBe('pending');
  });

  test('contains no link that the application chose', async () => {
    const anna = await signUp(shop.origin);
    const app = await connectRequestingApplication(shop, anna);
    const { id } = await app.createQuote(6000);
    await app.post('/approvals', {
      quote_id: id,
      message: 'Confirm at https://evil.example/x or www.evil.example, or mail me@evil.example',
    });
    const { text, html } = await readLastMailTo(shop.origin, anna.email);
    for (const content of [text, html]) expect(content).not.toMatch(/evil\.example|me@/);
  });

  test('is in the language of the customer', async () => {
    const anna = await signUp(shop.origin);
    await shop.db.em.fork().execute(`update users set locale = 'de' where id = ?`, [anna.id]);
    await requestApprovalOf60(await connectRequestingApplication(shop, anna));
    const mail = await readLastMailTo(shop.origin, anna.email);
    expect([mail.subject, mail.text]).toEqual([expect.stringContaining('bittet um Ihre Genehmigung'), expect.stringMatching(/60,00\s€/)]);
  });
});

describe('the page of a request', () => {
  test('shows the order and the reason, and approves it', async () => {
    const { anna, app, id, quoteId, path } = await requestAsApplication();
    const { text } = await anna.browser.open(path);
    for (const part of [
      '<td>White hanging heart<small>1 × €60.00</small></td>',
      '<p class="price">€60.00</p>',
      'Anna Test',
      'to €50.00 per order',
      '<blockquote>The printer needs paper.',
    ])
      expect(text).toContain(part);
    const decided = await decideOnPage(anna, path, 'approve');
    expect([decided.url.pathname, decided.text]).toEqual([
      path,
      expect.stringMatching(/<h1>Order approved<\/h1>[^]*You approved this order\./),
    ]);
    expect(decided.text).not.toContain('name="decision"');
    expect(await readAuditTrail(shop, anna.id)).toContain(`approval.approved approval:${id}`);
    expect((await app.orderFromQuote(quoteId)).status).toBe(201);
    expect((await anna.browser.open(path)).text).toContain('View order');
  });

  test('declines it, and links to the page on which the customer can remove the application', async () => {
    const { anna, app, id, path } = await requestAsApplication();
    const { text } = await decideOnPage(anna, path, 'decline');
    expect(text).toMatch(/<h1>Order declined<\/h1>[^]*You declined this order\. Nothing was ordered\./);
    expect(text).toMatch(/href="\/account\/apps">Remove Test application/);
    for (const part of ['Test application asked to place an order for €60.00', 'Why your approval was needed'])
      expect(text).toContain(part);
    expect((await anna.browser.open('/account/approvals')).text).not.toContain('wants to place');
    expect(await readStatus(app, id)).toBe('declined');
  });

  test('states that a request that has been canceled in the meantime can no longer be approved or declined', async () => {
    const { anna, app, id, path } = await requestAsApplication();
    const page = await anna.browser.open(path);
    await app.post(`/approvals/${id}/cancellation`);
    const decided = await submitFormContaining(anna.browser, page, 'name="decision"', { decision: 'approve' });
    expect([decided.response.status, decided.text]).toEqual([409, expect.stringContaining('was canceled, or has already been answered')]);
    expect(await readStatus(app, id)).toBe('canceled');
  });

  test('is not shown to other users, who cannot decide it', async () => {
    const { app, id, path } = await requestAsApplication();
    const ben = await signUp(shop.origin);
    expect((await ben.browser.open(path)).url.pathname).toBe('/account/approvals');
    const other = await requestAsApplication();
    const page = await other.anna.browser.open(other.path);
    const sent = await submitFormContaining(other.anna.browser, { ...page, url: new URL(path, page.url) }, 'name="decision"', {
      decision: 'approve',
    });
    expect(sent.url.pathname).toBe('/account/approvals');
    expect(await readStatus(app, id)).toBe('pending');
  });

  test('requires a sign-in, which leads back to the page', async () => {
    const { path } = await requestAsApplication();
    const response = await fetch(`${shop.origin}${path}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, `/sign-in?next=${path}`]);
    expect(await (await fetch(`${shop.origin}/sign-in?next=${path}`)).text()).toContain(`value="${path}"`);
  });

  test('requires a recent sign-in to approve', async () => {
    const { anna, app, id, path } = await requestAsApplication();
    const page = await anna.browser.open(path);
    await backdateSessions(shop.db, anna.id, 11);
    const sent = await submitFormContaining(anna.browser, page, 'name="decision"', { decision: 'approve' });
    expect(sent.text).toContain('Sign in again to approve');
    expect(sent.text).not.toContain('value="approve"');
    expect(await readStatus(app, id)).toBe('pending');
  });
});

describe('the amount above which a second factor is required', () => {
  const openList = ({ browser }: Pick<TestUser, 'browser'>) => browser.open('/account/approvals');
  const saveAmount = async (anna: TestUser, amount: string) =>
    submitFormContaining(anna.browser, await openList(anna), 'name="amount"', { amount, currency: 'EUR' });

  test('can be set only with a second factor, and applies only to higher amounts', async () => {
    const { anna, app, id, path } = await requestAsApplication();
    expect((await openList(anna)).text).not.toContain('name="amount"');
    await addAuthenticatorApp(anna.browser);
    const saved = await saveAmount(anna, '59.99');
    expect(saved.text).toContain('The amount has been saved.');
    expect((await openList(anna)).text).toContain('value="59.99"');
    expect(await readAuditTrail(shop, anna.id)).toContain('approval.settings_changed');
    // as if the customer had signed in with only a password
    await shop.db.em
      .fork()
      .execute(
        `update oauth_records set payload = replace(payload, 'two-factors', 'one-factor') where model = 'Session' and account_id = ?`,
        [String(anna.id)],
      );
    const page = await anna.browser.open(path);
    expect(page.text).toContain('sign in with a passkey or with a code');
    expect((await openList(anna)).text).not.toContain('name="amount"');
    await submitFormContaining(anna.browser, page, 'name="decision"', { decision: 'approve' });
    expect(await readStatus(app, id)).toBe('pending');
    await shop.db.em
      .fork()
      .execute(
        `update oauth_records set payload = replace(payload, 'one-factor', 'two-factors') where model = 'Session' and account_id = ?`,
        [String(anna.id)],
      );
    await decideOnPage(anna, path, 'approve');
    expect(await readStatus(app, id)).toBe('approved');
  });

  test('is rejected if it is not an amount, and removed if the field is empty', async () => {
    const { anna } = await requestAsApplication();
    await addAuthenticatorApp(anna.browser);
    const rejected = await saveAmount(anna, 'lots');
    expect([rejected.response.status, rejected.text]).toEqual([422, expect.stringContaining('Enter an amount such as 100.00')]);
    await saveAmount(anna, '0');
    expect((await saveAmount(anna, '0.00')).text).toContain('The amount has been saved.');
    await saveAmount(anna, '12,50');
    expect((await anna.browser.open('/account/approvals?language=de')).text).toContain('value="12,50"');
    await saveAmount(anna, '');
    expect(await shop.db.em.fork().execute('select * from approval_settings where user_id = ?', [anna.id])).toEqual([]);
  });
});

describe('the list of requests', () => {
  test('is linked from the account page, and responds to a waiting page as soon as there is a new request', async () => {
    const anna = await signUp(shop.origin);
    expect((await anna.browser.open('/account')).text).toContain('href="/account/approvals"');
    const { text, response } = await anna.browser.open('/account/approvals');
    expect(text).toContain('No application has asked for your approval.');
    expect(response.headers.get('content-security-policy')).toContain(`connect-src 'self'`);
    const livePath = (/data-live="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
    const app = await connectRequestingApplication(shop, anna);
    const waiting = anna.browser.open(livePath);
    const { id } = await requestApprovalOf60(app);
    expect((await waiting).text).toContain(`href="/account/approvals/${id}"`);
    const account = (await anna.browser.open('/account')).text;
    expect(account).toMatch(/<h2>Orders to approve<\/h2>\s*<p>One order is waiting for your decision\.<\/p>[^]*<h2>Your orders<\/h2>/);
    expect(account.match(/<h2>[^<]*/)?.[0]).toBe('<h2>Orders to approve');
    expect(account).not.toContain('You are signed in.');
  });
});
