import type { Client, ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { confirmDevicePage, enterUserCodePage } from './user-code-pages.ts';
import { formatUserCode, userCodeFromUrl } from './user-code.ts';
import type { Html } from '../../../../http/response/html-template.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';
import { errorPage, noticePage } from '../message-pages.ts';

const formSecret = z.object({ state: z.object({ secret: z.string() }) });
const readFormSecret = (ctx: KoaContextWithOIDC): string => formSecret.parse(ctx.oidc.session).state.secret;

type PageFunctions = {
  readonly show: (ctx: KoaContextWithOIDC, settings: PageSettings, html: Html) => void;
  readonly localize: (ctx: KoaContextWithOIDC) => PageSettings;
  readonly localizeForUser: (ctx: KoaContextWithOIDC) => Promise<PageSettings>;
};

/** Creates the page handlers for the device flow (RFC 8628 section 3.3). */
export function createDeviceVerificationPageHandlers({ show, localize, localizeForUser }: PageFunctions) {
  const showConfirmation = (ctx: KoaContextWithOIDC, settings: PageSettings, client: Client, code: string): void => {
    const application = client.clientName ?? client.clientId;
    const settingsWithCode = keepUserCodeInLanguageLinks(settings, code);
    show(ctx, settingsWithCode, confirmDevicePage(settingsWithCode, { secret: readFormSecret(ctx), application, code }));
  };
  /** Shows the confirmation page for a link that contains the code, so that the user does not have to enter the code. */
  const showLinkedCode = async (ctx: KoaContextWithOIDC, settings: PageSettings, code: string): Promise<void> => {
    const { client, error = 'NotFoundError' } = await findPendingDevice(ctx, code);
    if (client) return showConfirmation(ctx, settings, client, code);
    const faults = [{ field: 'user_code', text: errorTexts[error](settings.messages) }];
    return show(ctx, settings, enterUserCodePage(settings, { secret: readFormSecret(ctx), code, faults }));
  };
  return {
    tooManyCodes: (ctx: KoaContextWithOIDC): void => {
      const settings = localize(ctx);
      const { device } = settings.messages;
      show(ctx, settings, noticePage(settings, device.tooManyTitle, device.tooMany));
    },
    askForCode: async (ctx: KoaContextWithOIDC, _form: string, _out?: ErrorOut, error?: Error & { userCode?: string }): Promise<void> => {
      const settings = await localizeForUser(ctx);
      const { device, failure } = settings.messages;
      const linkedCode = userCodeFromUrl(ctx.originalUrl);
      if (error === undefined && linkedCode === '')
        return show(ctx, settings, enterUserCodePage(settings, { secret: readFormSecret(ctx) }));
      if (error === undefined) return showLinkedCode(ctx, settings, linkedCode);
      if (error.name === 'AbortedError') return show(ctx, settings, noticePage(settings, device.refusedTitle, device.refused));
      const text = isUserCodeError(error.name) ? errorTexts[error.name](settings.messages) : undefined;
      if (text === undefined) return show(ctx, settings, errorPage(settings, failure.expiredTitle, device.startAgain));
      const faults = [{ field: 'user_code', text }];
      const code = formatUserCode(error.userCode ?? '');
      return show(ctx, settings, enterUserCodePage(settings, { secret: readFormSecret(ctx), code, faults }));
    },
    confirmDevice: async (ctx: KoaContextWithOIDC, _form: string, client: Client, _device: unknown, code: string): Promise<void> => {
      showConfirmation(ctx, await localizeForUser(ctx), client, code);
    },
    deviceConnected: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const settings = await localizeForUser(ctx);
      const { device, accountMenu } = settings.messages;
      const { client } = ctx.oidc;
      const toApps = { path: '/account/apps', text: accountMenu.apps, kind: 'second' } as const;
      const application = client?.clientName ?? client?.clientId ?? '';
      show(ctx, settings, noticePage(settings, device.doneTitle, device.done({ application }), toApps));
    },
  };
}

/** Makes the language links lead to the code entry page, with the code filled in. */
const keepUserCodeInLanguageLinks = (settings: PageSettings, code: string): PageSettings => ({
  ...settings,
  languageSwitch: settings.languageSwitch && { ...settings.languageSwitch, query: `user_code=${encodeURIComponent(code)}` },
});

type UserCodeError = 'NoCodeError' | 'NotFoundError' | 'ExpiredError' | 'AlreadyUsedError';

/** Finds the application that requested this code for a device. Applies the same checks that oidc-provider applies to a submitted code. */
async function findPendingDevice(ctx: KoaContextWithOIDC, code: string): Promise<{ client?: Client; error?: UserCodeError }> {
  const { provider } = ctx.oidc;
  const device = await provider.DeviceCode.findByUserCode(code.replaceAll('-', ''), { ignoreExpiration: true });
  if (!device?.clientId) return { error: 'NotFoundError' };
  if (device.isExpired) return { error: 'ExpiredError' };
  if (device.error || device.accountId || device.inFlight) return { error: 'AlreadyUsedError' };
  const client = await provider.Client.find(device.clientId);
  if (!client) return { error: 'NotFoundError' };
  ctx.oidc.entity('DeviceCode', device); // if this entity is set, `limitUserCodeAttempts` does not count the request as a wrong code
  return { client };
}

const errorTexts: Record<UserCodeError, (messages: PageSettings['messages']) => string> = {
  NoCodeError: ({ device }) => device.codeMissing,
  NotFoundError: ({ device }) => device.codeUnknown,
  ExpiredError: ({ device }) => device.codeExpired,
  AlreadyUsedError: ({ device }) => device.codeUsed,
};

const isUserCodeError = (name: string): name is UserCodeError => Object.hasOwn(errorTexts, name);
