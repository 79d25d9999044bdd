import { isCommonPassword, normalizePasswordForComparison } from '../../../passwords/check-common-passwords.ts';
import type { PageSettings } from '../../views/page-layout-and-form-fields.ts';
import { passwordLengthLimits } from '../../views/sign-in/sign-up-pages-and-password-field.ts';
import { hashPassword } from '../../../passwords/hash-and-verify-password.ts';
import { findGuessablePasswordPattern } from '../../../passwords/find-guessable-password-pattern.ts';

/** The user whose password is being set. */
export type PasswordOwner = { readonly name: string; readonly email: string };

/** The hash if the password was accepted; otherwise, the reason for the rejection: a sentence for the user, without the final period. */
export type NewPasswordResult = { readonly hash: string } | { readonly reason: string };

/**
 * Hashes a password that a user or an administrator has chosen, unless the password is easy to guess (NIST SP 800-63B-4 section 3.1.1.2).
 * Every code path that sets a password must call this function, not `hashPassword`.
 * @throws PasswordHashQueueFullError if too many passwords are being hashed
 */
export async function validateAndHashNewPassword(
  password: string,
  owner: PasswordOwner,
  settings: Pick<PageSettings, 'shop' | 'messages'>,
): Promise<NewPasswordResult> {
  const reason = await findRejectionReason(password, owner, settings);
  return reason === undefined ? { hash: await hashPassword(password) } : { reason };
}

async function findRejectionReason(
  password: string,
  { name, email }: PasswordOwner,
  { shop, messages: { signUp: messages } }: Pick<PageSettings, 'shop' | 'messages'>,
): Promise<string | undefined> {
  const { minimum, maximum } = passwordLengthLimits;
  const length = Array.from(password).length;
  if (length < minimum) return messages.passwordShort({ minimum });
  if (length > maximum) return messages.passwordLong({ maximum });
  if (normalizePasswordForComparison(password) === normalizePasswordForComparison(email.trim())) return messages.passwordIsEmail;
  if (containsName(password, email.split('@', 1)[0] ?? '')) return messages.passwordHasEmail;
  if (containsName(password, name)) return messages.passwordHasName;
  if (containsName(password, shop.name)) return messages.passwordHasShopName({ shop: shop.name });
  const pattern = await findGuessablePasswordPattern(password);
  if (pattern !== undefined && pattern !== 'guessable') return messages.passwordPattern[pattern];
  if (await isCommonPassword(password, minimum)) return messages.passwordCommon;
  return pattern && messages.passwordPattern[pattern];
}

/** Minimum length of the name parts that a password must not contain. Shorter parts often occur in unrelated words. */
const partLengthMin = 4;

/** Returns whether a password contains a name or one of its words. */
function containsName(password: string, name: string): boolean {
  const parts = normalizePasswordForComparison(name).split(/[^\p{L}\p{N}]+/u);
  const normalized = normalizePasswordForComparison(password);
  return [parts.join(''), ...parts].some((part) => part.length >= partLengthMin && normalized.includes(part));
}
