import type { Fault } from './pages/page.ts';
import { passwordLength } from './pages/sign-up-page.ts';
import type { Words } from './pages/words.ts';

/** What is wrong with a password that somebody chose. */
export function* passwordFaults(password: string, email: string, { signUp }: Words): Generator<Fault> {
  const length = Array.from(password).length;
  if (length < passwordLength.minimum) yield { field: 'password', text: signUp.passwordShort(passwordLength.minimum) };
  else if (length > passwordLength.maximum) yield { field: 'password', text: signUp.passwordLong(passwordLength.maximum) };
  else if (password.toLowerCase() === email.trim().toLowerCase()) yield { field: 'password', text: signUp.passwordIsEmail };
}
