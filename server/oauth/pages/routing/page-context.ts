import type { Request, Response } from 'express';
import { errors, type Provider } from 'oidc-provider';
import type { Em } from '../../../database/entity-manager/entity-manager.ts';
import type { AttemptLimits } from '../../brute-force/attempt-limits.ts';
import type { FormTokens } from './form-tokens.ts';
import type { KnownBrowsers } from '../../brute-force/known-browsers.ts';
import type { Html } from '../views/html.ts';
import type { Setting } from '../views/page-layout.ts';
import type { Challenges } from '../../second-factors/passkeys.ts';
import type { OnTokenOperation } from '../../provider/token-endpoint-audit.ts';
import { pageHeaders } from '../assets/page-security-headers.ts';

/** What the handlers of the pages work with. */
export type PageContext = {
  readonly em: Em;
  readonly provider: Provider;
  readonly setting: Setting;
  readonly forms: FormTokens;
  readonly limits: AttemptLimits;
  readonly knownBrowsers: KnownBrowsers;
  /** False where there is no way to send e-mail: what needs it is then not offered. */
  readonly canMail: boolean;
  readonly keys: { readonly mail: Buffer; readonly secondFactor: Buffer };
  readonly challenges: Challenges;
  /** Told when somebody takes access back. */
  readonly onTokenOperation: OnTokenOperation;
};

export type Interaction = InstanceType<Provider['Interaction']>;

export function sendPage(
  { provider }: PageContext,
  res: Response,
  html: Html,
  { status = 200, returnTo }: { status?: number; returnTo?: string | undefined } = {},
): void {
  res.status(status).set(pageHeaders(provider.issuer, returnTo)).type('html').send(html.toString());
}

/** The pending request behind this page, which the browser proves by a cookie that belongs to the page's address. */
export async function pendingInteraction({ provider }: PageContext, req: Request, res: Response, prompt: string): Promise<Interaction> {
  const interaction = await provider.interactionDetails(req, res);
  if (interaction.uid !== req.params['uid'] || interaction.prompt.name !== prompt) {
    throw new errors.SessionNotFound('the page belongs to another request');
  }
  return interaction;
}

/** Ends a pending request that the user does not go on with. */
export async function endInteraction({ provider }: PageContext, req: Request, res: Response, interaction: Interaction): Promise<void> {
  await interaction.destroy();
  const { cookies } = provider.createContext(req, res);
  cookies.set(provider.cookieName('interaction'), null, { path: `/consent/${interaction.uid}`, signed: true });
}

/** Where the person is sent back to in the end, validated when the request came in; nowhere when it is a device that waits. */
export const returnAddress = ({ params }: Interaction): string | undefined => parameter(params, 'redirect_uri');

export const clientIdOf = ({ params }: Interaction): string => parameter(params, 'client_id') ?? '';

export function parameter(params: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = params[name];
  return typeof value === 'string' ? value : undefined;
}
