import type { Browser, Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { readCommandBlock, readNumberedSteps } from '../support/markdown.ts';
import type { Account, Installation } from './installation.ts';

const document = 'docs/first-order.md';
const order = z.object({ id: z.number(), status: z.string() });

/** The order that was placed, and the number of commands and steps that were needed to place it (without the start commands). */
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

/** Opens the link that `login` prints without a display, and confirms the code. */
async function openLoginLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'The codes match' }).click();
}

/** Runs a series of commands, one of which is `login`. `signIn` performs the steps in the browser. */
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
      "Enter the customer's e-mail address and password, which `npm start` printed, and press Sign in.": () =>
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
  const form = page.getByRole('dialog', { name: 'API Client' });
  let popup: Page | undefined;
  let placed: z.infer<typeof order> | undefined;
  let paid: z.infer<typeof order> | undefined;
  const enterOrderId = (): Promise<void> =>
    form.getByRole('row', { name: 'order_id' }).getByRole('textbox', { name: 'Value' }).fill(String(placed?.id));
  const steps = await performSteps('API reference', {
    'Open http://localhost:3000/docs.': () => page.goto(`${installation.url}/docs`),
    'Press Authorize.': async () => {
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Authorize' }).click();
      popup = await opened;
    },
    'Sign in as the customer in the new window, and press Allow.': async () => {
      if (popup) await signInAndAllow(popup, installation.accounts.customer);
      await page.getByText('Access Token', { exact: true }).waitFor();
    },
    'In the sidebar, open Orders, then "Place an order". Press Test Request, then Send. Note the `id` in the response, and press × to close the form.':
      async () => {
        await openRequestForm(page, 'Orders', 'Place an order');
        placed = await sendRequest(form);
        await form.getByRole('button', { name: 'Close Client' }).click();
      },
    'Open Payments, then "Pay for an order". Press Test Request. Replace the value of `order_id` with the `id` of your order, and the request body with `{"provider": "test", "method_token": "test_ok"}`. Press Send, then ×.':
      async () => {
        await openRequestForm(page, 'Payments', 'Pay for an order');
        await enterOrderId();
        const body = form.getByRole('region', { name: 'Request Body' }).getByRole('textbox', { name: 'Text' });
        await body.fill('{"provider": "test", "method_token": "test_ok"}');
        await sendRequest(form);
        await form.getByRole('button', { name: 'Close Client' }).click();
      },
    'Open "Get an order" under Orders. Press Test Request. Replace the value of `order_id` again, and press Send. The response contains `"status": "paid"`.':
      async () => {
        await openRequestForm(page, 'Orders', 'Get an order');
        await enterOrderId();
        paid = await sendRequest(form);
      },
  });
  await context.close();
  return { commands: 0, steps, order: order.parse(paid) };
}

/** Opens an operation from the sidebar of the API reference, then opens its request form. */
async function openRequestForm(page: Page, group: string, operation: string): Promise<void> {
  const sidebar = page.getByRole('complementary', { name: 'Sidebar for Mandate' });
  const link = sidebar.getByRole('link', { name: operation });
  if (!(await link.isVisible())) await sidebar.getByRole('button', { name: `Open Group - ${group}`, exact: true }).click();
  await link.click();
  const section = page.locator('section', { has: page.getByRole('heading', { name: operation, exact: true }) });
  await section.getByRole('button', { name: 'Test Request' }).click();
}

/** Presses Send, and returns the `id` and the `status` that the form shows in the response. */
async function sendRequest(form: Locator): Promise<z.infer<typeof order>> {
  await form.getByRole('button', { name: 'Send' }).first().click();
  const response = form.getByRole('region', { name: 'Response' });
  await response.getByRole('link', { name: /^20\d/ }).waitFor();
  const body = await response.getByRole('region', { name: 'Body' }).getByRole('textbox', { name: 'Text' }).innerText();
  // the form contains only the visible part of a long body
  return order.parse({ id: Number(/^ {2}"id": (\d+)/m.exec(body)?.[1]), status: /^ {2}"status": "(\w+)"/m.exec(body)?.[1] });
}

export async function orderInStorefront(installation: Installation, browser: Browser): Promise<CompletedWay> {
  const commands = await readCommandBlock('examples/storefront/README.md', 'npx mandate login');
  const { administrator, customer } = installation.accounts;
  const [adminContext, context] = [await browser.newContext(), await browser.newContext()];
  const [adminPage, page] = [await adminContext.newPage(), await context.newPage()];
  const placed = page.getByRole('article', { name: /^Order \d+$/ });
  const steps = await performSteps('Storefront', {
    'When the first command opens the browser, sign in as the administrator, select the permission, and press Allow.': async () => {
      await runWithLogin(installation, commands.slice(0, -1), adminPage, async () => {
        await fillSignIn(adminPage, administrator);
        await adminPage.getByRole('checkbox', { name: 'Register applications, and change what they are allowed to do' }).check();
        await adminPage.getByRole('button', { name: 'Allow' }).click();
      });
      installation.start(commands.at(-1) ?? '');
    },
    'Open http://localhost:5173.': () => openWhenStarted(page, installation.storefrontUrl),
    'Press "Add to cart" below a product.': () => page.getByRole('button', { name: 'Add to cart' }).first().click(),
    'Press "Cart", then "Sign in to order".': async () => {
      await page.getByRole('link', { name: 'Cart 1' }).click();
      await page.getByRole('button', { name: 'Sign in to order' }).click();
    },
    'Sign in as the customer, and press Allow.': () => signInAndAllow(page, customer),
    'Press "Place order".': () => page.getByRole('button', { name: 'Place order' }).click(),
    'Press Pay.': () => placed.getByRole('button', { name: 'Pay' }).click(),
  });
  await placed.locator('.status.paid').waitFor();
  const id = Number((await placed.getAttribute('aria-label'))?.split(' ')[1]);
  const status = await placed.locator('.status').innerText();
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
