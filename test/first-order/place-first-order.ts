import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { readCommandBlock, readNumberedSteps } from '../support/markdown.ts';
import type { Account, Installation } from './installation.ts';

const document = 'docs/first-order.md';
const order = z.object({ id: z.number(), status: z.string() });

/** Number of commands and steps that one way to place an order requires (without the start commands), and the resulting order. */
export type CompletedWay = { readonly commands: number; readonly steps: number; readonly order: z.infer<typeof order> };

/** Counts the commands at the start of every documented way to place an order: clone, change directory, install, start. */
export const startCommands = async (): Promise<number> =>
  (await readCommandBlock(document, 'git clone')).flatMap((line) => line.split('&&')).length;

type Actions = Readonly<Record<string, () => Promise<unknown>>>;

/** Performs the documented steps in order. */
async function performSteps(heading: string, actions: Actions): Promise<number> {
  const steps = await readNumberedSteps(document, heading);
  for (const step of steps) {
    const action = actions[step];
    if (!action) throw new Error(`${document} has a step without an action: ${step}`);
    await action();
  }
  return steps.length;
}

async function fillSignIn(page: Page, { email, password }: Account): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function signInAndAllow(page: Page, account: Account): Promise<void> {
  await fillSignIn(page, account);
  await page.getByRole('button', { name: 'Allow' }).click();
}

/** Without a display, `login` prints a link with a code instead of opening the browser. */
async function openLoginLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'It is the same code' }).click();
}

/** Runs commands that include `login`; `signIn` performs the browser steps. */
async function runWithLogin(
  installation: Installation,
  commands: readonly string[],
  page: Page,
  signIn: () => Promise<unknown>,
): Promise<string> {
  const signInFailed = Promise.withResolvers<never>();
  let started = false;
  const output = installation.run(commands, (text) => {
    const [link] = /http\S+user_code=\S+/.exec(text) ?? [];
    if (link === undefined || started) return;
    started = true;
    openLoginLink(page, link).then(signIn).catch(signInFailed.reject);
  });
  return Promise.race([output, signInFailed.promise]);
}

export async function orderByCommandLine(installation: Installation, browser: Browser): Promise<CompletedWay> {
  const page = await browser.newPage();
  const commands = await readCommandBlock('README.md', 'npx mandate login');
  // `--yes` replaces the confirmation on a terminal, which the test does not have
  const confirmed = commands.map((command) => (command.startsWith('npx mandate orders pay') ? `${command} --yes` : command));
  let steps = 0;
  await runWithLogin(installation, confirmed, page, async () => {
    steps = await performSteps('Command line', {
      'Enter the e-mail address and the password of the customer, which `npm start` printed, and press Sign in.': () =>
        fillSignIn(page, installation.accounts.customer),
      'Press Allow.': () => page.getByRole('button', { name: 'Allow' }).click(),
    });
  });
  const latestOrder = await installation.run(['npx mandate orders list --json']);
  await page.close();
  const [latest] = z.object({ data: z.array(order) }).parse(JSON.parse(latestOrder)).data;
  return { commands: commands.length, steps, order: order.parse(latest) };
}

export async function orderByCurl(installation: Installation): Promise<CompletedWay> {
  const commands = await readCommandBlock('README.md', 'field()');
  const output = await installation.run(commands);
  const lastLine = /\{"id":\d+,"user_id":2,.*\}$/.exec(output.trim())?.[0] ?? output;
  return { commands: commands.length, steps: 0, order: order.parse(JSON.parse(lastLine)) };
}

export async function orderOnReferencePage(installation: Installation, browser: Browser): Promise<CompletedWay> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  let popup: Page | undefined;
  let placed: z.infer<typeof order> | undefined;
  let paid: z.infer<typeof order> | undefined;
  const call = async (tag: string, operation: string, body?: string): Promise<z.infer<typeof order>> => {
    const block = page.locator(`[id="operations-${tag}-${operation.replace('.', String.raw`\\.`)}"]`);
    await block.locator('button.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    if (placed) await block.getByRole('textbox', { name: 'order_id' }).fill(String(placed.id));
    if (body !== undefined) await block.locator('textarea.body-param__text').fill(body);
    await block.getByRole('button', { name: 'Execute' }).click();
    return order.parse(JSON.parse((await block.locator('.live-responses-table .highlight-code pre').first().textContent()) ?? ''));
  };
  const steps = await performSteps('API reference', {
    'Open http://localhost:3000/docs.': () => page.goto(`${installation.url}/docs`),
    'Press Authorize, then Authorize in the dialog.': async () => {
      await page.getByRole('button', { name: 'Authorize' }).click();
      const opened = page.waitForEvent('popup');
      await dialog.getByRole('button', { name: 'Authorize' }).click();
      popup = await opened;
    },
    'Sign in as the customer in the new window, press Allow, and close the dialog.': async () => {
      if (popup) await signInAndAllow(popup, installation.accounts.customer);
      await dialog.getByRole('button', { name: 'Logout' }).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).last().click();
    },
    'Open "Place an order", press Try it out, then Execute.': async () => (placed = await call('Orders', 'orders.create')),
    'Open "Pay for an order", press Try it out, enter the `id` of the order as `order_id` and `{"provider": "test", "method_token": "test_ok"}` as the body, then press Execute.':
      () => call('Payments', 'payments.create', '{"provider": "test", "method_token": "test_ok"}'),
    'Open "Get an order", press Try it out, enter the same `order_id`, then press Execute.': async () =>
      (paid = await call('Orders', 'orders.get')),
  });
  await context.close();
  return { commands: 0, steps, order: order.parse(paid) };
}

export async function orderInStorefront(installation: Installation, browser: Browser): Promise<CompletedWay> {
  const commands = await readCommandBlock('examples/storefront/README.md', 'npx mandate login');
  const { administrator, customer } = installation.accounts;
  const [adminContext, context] = [await browser.newContext(), await browser.newContext()];
  const [adminPage, page] = [await adminContext.newPage(), await context.newPage()];
  const latestOrder = page.getByRole('article', { name: /^Order \d+$/ }).first();
  const steps = await performSteps('Storefront', {
    'For the first command, sign in as the administrator and press Allow.': async () => {
      await runWithLogin(installation, commands.slice(0, -1), adminPage, () => signInAndAllow(adminPage, administrator));
      installation.start(commands.at(-1) ?? '');
    },
    'Open http://localhost:5173.': () => openWhenStarted(page, installation.storefrontUrl),
    'Press Sign in.': () => page.getByRole('button', { name: 'Sign in', exact: true }).click(),
    'Sign in as the customer, and press Allow.': () => signInAndAllow(page, customer),
    'Press Order next to a product.': () => page.getByRole('button', { name: 'Order' }).first().click(),
    'Press Pay next to the order.': () => latestOrder.getByRole('button', { name: 'Pay' }).click(),
  });
  await latestOrder.locator('.status.paid').waitFor();
  const id = Number((await latestOrder.getAttribute('aria-label'))?.split(' ')[1]);
  const status = await latestOrder.locator('.status').innerText();
  await adminContext.close();
  await context.close();
  return { commands: commands.length, steps, order: { id, status } };
}

async function openWhenStarted(page: Page, url: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const opened = await page.goto(url).then(
      () => true,
      () => false,
    );
    if (opened) return;
    if (attempt === 200) throw new Error(`nothing listens at ${url}`);
    await page.waitForTimeout(100);
  }
}
