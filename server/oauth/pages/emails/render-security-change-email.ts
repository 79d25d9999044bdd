import type { Request } from 'express';
import type { Messages } from '../../../languages/languages.ts';
import type { Mail } from '../../../mail/queue-mail.ts';
import type { PageContext } from '../routing/page-context.ts';
import { localizePageSettingsForEmailToUser } from '../views/select-and-store-page-language.ts';
import { describeChangeTimeAndSource } from './describe-change-time-and-source.ts';
import { renderEmail } from './render-email.ts';

/** Audit action that records a change to a user's sign-in methods. */
export type SecurityChange = keyof Messages['mail']['securityChange'];

/** Renders the e-mail that tells the account owner which sign-in method was changed, when and from where. */
export function renderSecurityChangeEmail(
  { settings: defaultSettings, provider }: Pick<PageContext, 'settings' | 'provider'>,
  { email, locale }: { readonly email: string; readonly locale: string | null },
  { action, req, now }: { readonly action: SecurityChange; readonly req: Pick<Request, 'headers' | 'ip'>; readonly now: Date },
): Mail {
  const settings = localizePageSettingsForEmailToUser(defaultSettings, locale);
  const { securityChangedSubject, securityChange, securityAdvice } = settings.messages.mail;
  const shop = settings.shop.name;
  return renderEmail(email, settings, {
    subject: securityChangedSubject({ shop }),
    text: securityChange[action]({ shop }),
    lists: [describeChangeTimeAndSource(settings, now, req)],
    advice: securityAdvice,
    button: { url: `${provider.issuer}/account/security`, label: 'checkAccount' },
  });
}
