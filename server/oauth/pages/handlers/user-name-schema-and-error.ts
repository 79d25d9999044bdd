import { contract, findHiddenCharacterCodePoint } from '@mandate/contract';
import type { Messages } from '../../../languages/languages.ts';
import type { FieldError } from '../views/page-layout-and-form-fields.ts';

/** The API's validation rule for user names. */
export const { name: userNameSchema } = contract.users.create.body.shape;

/** Returns the error for an invalid name. For a disallowed character, the error contains the character's code point. */
export function createUserNameError(name: string, { signUp }: Messages): FieldError {
  const character = findHiddenCharacterCodePoint(name.trim());
  return { field: 'name', text: character === undefined ? signUp.nameMissing : signUp.nameRejected({ character }) };
}
