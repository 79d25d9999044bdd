import type { Client, ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { confirmDevicePage, enterUserCodePage } from './user-code-pages.ts';
import type { Html } from '../../../../http/response/html-template.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';
import { errorPage, noticePage } from '../message-pages.ts';

const formSecret = z.object({ state: z.object({ secret: z.string() }) });
const readFormSecret = (ctx: KoaContextWithOIDC): string => formSecret.parse(ctx.oidc.session).state.secret;

/** Formats a user code as `ABCD-EFGH`. Returns other input unchanged, up to 20 characters. */
export const formatUserCode = (code: string): string => {
  const letters = code.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : code.slice(0, 20);
};

type PageFunctions = {
  readonly show: (ctx: KoaContextWithOIDC, settings: PageSettings, html: Html) => void;
  readonly localize: (ctx: KoaContextWithOIDC) => PageSettings;
  readonly localizeForUser: (ctx: KoaContextWithOIDC) => Promise<PageSettings>;
};

/** Creates the page handlers for the device flow (RFC 8628 section 3.3). */
export function createDeviceVerificationPages({ show, localize, localizeForUser }: PageFunctions) {
  return {
    tooManyCodes: (ctx: KoaContextWithOIDC): void => {
      const settings = localize(ctx);
      const { device } = settings.messages;
      show(ctx, settings, noticePage(settings, device.tooManyTitle, device.tooMany));
    },
    askForCode: async (ctx: KoaContextWithOIDC, _form: string, _out?: ErrorOut, error?: Error & { userCode?: string }): Promise<void> => {
      const settings = await localizeForUser(ctx);
      const { device, failure } = settings.messages;
      if (error === undefined)
        return show(ctx, settings, enterUserCodePage(settings, { secret: readFormSecret(ctx), code: codeFromUrl(ctx) }));
      if (error.name === 'AbortedError') return show(ctx, settings, noticePage(settings, device.refusedTitle, device.refused));
      const text = errorTexts[error.name]?.(settings.messages);
      if (text === undefined) return show(ctx, settings, errorPage(settings, failure.expiredTitle, device.startAgain));
      const faults = [{ field: 'user_code', text }];
      const code = formatUserCode(error.userCode ?? '');
      return show(ctx, settings, enterUserCodePage(settings, { secret: readFormSecret(ctx), code, faults }));
    },
    confirmDevice: async (ctx: KoaContextWithOIDC, _form: string, client: Client, _device: unknown, code: string): Promise<void> => {
      const settings = keepUserCodeInLanguageLinks(await localizeForUser(ctx), code);
      show(
        ctx,
        settings,
        confirmDevicePage(settings, { secret: readFormSecret(ctx), application: client.clientName ?? client.clientId, code }),
      );
    },
    deviceConnected: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const settings = await localizeForUser(ctx);
      const { device } = settings.messages;
      const { client } = ctx.oidc;
      const application = client?.clientName ?? client?.clientId ?? '';
      show(ctx, settings, noticePage(settings, device.doneTitle, device.done({ application })));
    },
  };
}

/** Makes the language links lead to the page on which the code is entered, with the code filled in. */
const keepUserCodeInLanguageLinks = (settings: PageSettings, code: string): PageSettings => ({
  ...settings,
  languageSwitch: settings.languageSwitch && { ...settings.languageSwitch, query: `user_code=${encodeURIComponent(code)}` },
});

const errorTexts: Record<string, (messages: PageSettings['messages']) => string> = {
  NoCodeError: ({ device }) => device.codeMissing,
  NotFoundError: ({ device }) => device.codeUnknown,
  ExpiredError: ({ device }) => device.codeExpired,
  AlreadyUsedError: ({ device }) => device.codeUsed,
};

const codeFromUrl = (ctx: KoaContextWithOIDC): string =>
  formatUserCode(new URLSearchParams(ctx.originalUrl.split('?', 2)[1] ?? '').get('user_code') ?? '');
