import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { approveDevice } from '../support/oauth/device-flow.ts';
import { signIn } from '../support/oauth/oauth-flow.ts';
import { runProgram, searchPath, type Outcome } from './pack-and-install.ts';

type Account = { readonly email: string; readonly password: string };
export type InstalledCommand = (...argv: string[]) => Promise<Outcome>;

/** Returns the program file of the installed `mandate` command. */
export const commandFile = (project: string): string => join(project, 'node_modules/@mandate/cli/bin/mandate.js');

/** Returns a function that runs the installed `mandate` command for one server. */
export const installedCommand =
  (project: string, url: string, node = process.execPath): InstalledCommand =>
  (...argv) =>
    runProgram(node, [commandFile(project), ...argv], {
      cwd: project,
      env: installedCommandEnvironment(project, url),
    });

/** Returns the environment variables that make the installed `mandate` command use the server at `url`. */
export const installedCommandEnvironment = (project: string, url: string) => ({
  MANDATE_API_URL: url,
  MANDATE_CONFIG_DIR: join(project, 'mandate-config'),
});

/** Signs in on the command line with a code that the user confirms on the server's pages. */
export async function signInWithInstalledCommand(
  project: string,
  url: string,
  account: Account,
  { options = [], node = process.execPath }: { readonly options?: readonly string[]; readonly node?: string } = {},
): Promise<void> {
  const login = spawn(node, [commandFile(project), 'login', '--device', '--json', '--storage', 'file', ...options], {
    cwd: project,
    env: { PATH: searchPath, ...installedCommandEnvironment(project, url) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(login, 'exit');
  for await (const line of createInterface(login.stdout)) {
    const code = /"user_code":"([^"]+)"/.exec(line)?.[1];
    if (code !== undefined) await approveDevice({ browser: await signIn(url, account) }, code);
  }
  const [exitCode]: readonly unknown[] = await exited;
  if (exitCode !== 0) throw new Error(`mandate login exited with ${String(exitCode)}`);
}

const order = z.object({ id: z.number(), status: z.string() });
export type PlacedOrder = z.infer<typeof order>;

const delivery = ['--delivery.method', 'collection', '--delivery.recipient-name', 'Ann Lee'];

/** Places an order on the command line (default: for the signed-in customer). */
export async function orderWithInstalledCommand(mandate: InstalledCommand, options: readonly string[] = []): Promise<PlacedOrder> {
  const argv = ['orders', 'create', '--item', 'product_id=1,quantity=2', ...delivery, ...options, '--json'];
  const { code, stdout, stderr } = await mandate(...argv);
  if (code !== 0) throw new Error(stderr);
  return order.parse(JSON.parse(stdout));
}

const orderScript = `
import { createClient } from '@mandate/client-sdk';
import { clientCredentials } from '@mandate/client-sdk/authorization';

const [baseUrl, clientId, clientSecret] = process.argv.slice(2);
const auth = clientCredentials({ issuer: baseUrl, clientId, clientSecret, scopes: ['orders.read', 'orders.manage', 'orders.write'] });
const mandate = createClient({ baseUrl, auth });
const delivery = { method: 'collection', recipient_name: 'Ann Lee' };
console.log(JSON.stringify(await mandate.orders.create({ user_id: 2, items: [{ product_id: 1, quantity: 1 }], delivery })));
`;

/** Places an order for the demonstration customer with the installed client, as an application. */
export async function orderWithInstalledClient(
  project: string,
  url: string,
  { client_id: id, client_secret: secret }: { readonly client_id: string; readonly client_secret: string },
  node = process.execPath,
): Promise<PlacedOrder> {
  await writeFile(join(project, 'place-order.js'), orderScript);
  const { code, stdout, stderr } = await runProgram(node, ['place-order.js', url, id, secret], { cwd: project });
  if (code !== 0) throw new Error(stderr);
  return order.parse(JSON.parse(stdout));
}
