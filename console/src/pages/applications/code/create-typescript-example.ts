import { findBestFittingApplicationKind } from '../application-kinds.ts';
import { getRedirectUriOrExample, type ExampleApplication } from './redirect-uri-for-code-examples.ts';

const importClient = `import { createClient } from '@mandate/client-sdk';`;
const scopesOf = ({ scopes }: ExampleApplication, more: readonly string[] = []): string =>
  `[${[...more, ...scopes].map((scope) => `'${scope}'`).join(', ')}]`;

/** Returns a program that signs in with `@mandate/client-sdk` and calls the API. */
export function createTypescriptExample(application: ExampleApplication, issuer: string): string {
  return { web, browser, service, device }[findBestFittingApplicationKind(application)](application, issuer).join('\n');
}

const service = (application: ExampleApplication, issuer: string): readonly string[] => [
  importClient,
  `import { clientCredentials } from '@mandate/client-sdk/authorization';`,
  '',
  'const auth = clientCredentials({',
  `  issuer: '${issuer}',`,
  `  clientId: '${application.client_id}',`,
  '  clientSecret: process.env.MANDATE_CLIENT_SECRET!,',
  `  scopes: ${scopesOf(application)},`,
  '});',
  `const mandate = createClient({ baseUrl: '${issuer}', auth });`,
  'console.log(await mandate.authorization.get());',
];

const browser = (application: ExampleApplication, issuer: string): readonly string[] => [
  importClient,
  `import { browserSignIn } from '@mandate/client-sdk/authorization/browser';`,
  '',
  'const signIn = browserSignIn({',
  `  issuer: '${issuer}',`,
  `  clientId: '${application.client_id}',`,
  `  redirectUri: '${getRedirectUriOrExample(application)}',`,
  `  scopes: ${scopesOf(application, ['offline_access'])},`,
  '});',
  `const mandate = createClient({ baseUrl: '${issuer}', auth: signIn.auth });`,
  'await signIn.complete(); // on every page load',
  'if (await signIn.signedIn()) console.log(await mandate.authorization.get());',
  'else await signIn.redirect();',
];

const web = (application: ExampleApplication, issuer: string): readonly string[] => [
  importClient,
  `import { createServerSignIn } from '@mandate/client-sdk/server';`,
  '',
  'const signIn = createServerSignIn({',
  `  issuer: '${issuer}',`,
  `  clientId: '${application.client_id}',`,
  '  clientSecret: process.env.MANDATE_CLIENT_SECRET!,',
  `  redirectUri: '${getRedirectUriOrExample(application)}',`,
  `  scopes: ${scopesOf(application, ['offline_access'])},`,
  '  cookieSecrets: [process.env.COOKIE_SECRET!], // output of: openssl rand -base64 32',
  '});',
  '',
  'export async function handle(request: Request): Promise<Response> {',
  '  const { pathname } = new URL(request.url);',
  `  if (pathname === '${new URL(getRedirectUriOrExample(application)).pathname}') return signIn.completeSignIn(request);`,
  '  const session = await signIn.openSession(request);',
  '  if (!session.signedIn) return signIn.startSignIn(request);',
  `  const mandate = createClient({ baseUrl: '${issuer}', auth: session.auth });`,
  '  return session.addCookie(Response.json(await mandate.authorization.get()));',
  '}',
];

const device = (application: ExampleApplication, issuer: string): readonly string[] => [
  importClient,
  `import { beginDeviceAuthorization, completeDeviceAuthorization, discover } from '@mandate/client-sdk/authorization';`,
  '',
  `const server = await discover('${issuer}');`,
  'const device = await beginDeviceAuthorization(server, {',
  `  clientId: '${application.client_id}',`,
  `  scopes: ${scopesOf(application)},`,
  '});',
  'console.log(`Open ${device.verificationUri}, and enter the code ${device.userCode}.`);',
  'const { accessToken } = await completeDeviceAuthorization(server, device);',
  `const mandate = createClient({ baseUrl: '${issuer}', auth: accessToken });`,
  'console.log(await mandate.authorization.get());',
];
