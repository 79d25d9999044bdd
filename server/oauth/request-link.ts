import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';
import { queueMail } from '../mail/mail.ts';
import { newLinkToken } from './mailed-links.ts';
import { mailTo } from './mails.ts';
import type { PageContext } from './page-context.ts';

const findOwner = statement<{ id: number; email: string }>(
  'owner_of_address',
  `select id, email from users where lower(email) = lower($1) and status <> 'closed'`,
);

type Wanted = 'sign_up' | 'password_reset';

/**
 * Sends a link to an address: to open an account where there is none, to choose a password where there is one. The same is
 * done in both cases, so neither the answer nor its time tells which it was; only who reads the message learns it.
 * @param below where the pages of this sign-in are: `/sign-in/…` when an application asked for it
 */
export async function requestLink(context: PageContext, wanted: Wanted, email: string, below: string, now: Date): Promise<void> {
  const { setting, keys, provider } = context;
  const { mail } = setting.words;
  const shop = setting.shop.name;
  await context.em.transactional(async (em: Em) => {
    const [owner] = await findOwner(em, [email]);
    const purpose = owner ? 'password_reset' : 'sign_up';
    const token = await newLinkToken(em, { purpose, email: owner?.email ?? email, userId: owner?.id ?? null }, now);
    const path = owner ? '/password-reset/confirm' : `${below}/sign-up/confirm`;
    const link = `${provider.issuer}${path}?token=${token}`;
    const content =
      wanted === 'sign_up'
        ? owner
          ? { subject: mail.haveAccountSubject(shop), text: mail.haveAccount(shop) }
          : { subject: mail.signUpSubject(shop), text: mail.signUp(shop) }
        : owner
          ? { subject: mail.resetSubject(shop), text: mail.reset(shop) }
          : { subject: mail.noAccountSubject(shop), text: mail.noAccount(shop) };
    // to the address as it was typed when it opened the account: another spelling may reach another mailbox
    await queueMail(em, keys.mail, mailTo(owner?.email ?? email, setting, { ...content, link, ignore: true }), now);
  });
}
