import { z } from 'zod';

// C0, DEL and C1: nothing a name or an address needs, and what terminals and logs would obey.
const controlCharacter = /\p{Cc}/u;
// A note may have lines.
const controlCharacterBesidesLines = /[^\P{Cc}\t\n\r]/u;
const wellFormed = (value: string): boolean => value.isWellFormed();

/** One line of text, trimmed, `minimum` to `maximum` characters, without control characters. */
export const line = (maximum: number, minimum = 1) =>
  z
    .string()
    .trim()
    .min(minimum)
    .max(maximum)
    .refine((value) => !controlCharacter.test(value) && wellFormed(value), { message: 'must not contain control characters' });

/** Text that is kept as it is, blanks included: what something is called elsewhere. */
export const foreignName = (maximum: number) =>
  z
    .string()
    .min(1)
    .max(maximum)
    .refine((value) => !controlCharacter.test(value) && wellFormed(value), { message: 'must not contain control characters' });

/** Text that may have several lines, up to `maximum` characters. */
export const text = (maximum: number) =>
  z
    .string()
    .max(maximum)
    .refine((value) => !controlCharacterBesidesLines.test(value) && wellFormed(value), {
      message: 'must not contain control characters besides line breaks and tabs',
    });

/** A moment, as RFC 3339 in UTC with milliseconds. */
export const instant = z.string().datetime();

/** A moment given by a caller: RFC 3339 with any offset. */
export const instantInput = z.string().datetime({ offset: true });

/** Pairs of text that belong to the caller; the service stores and returns them, and gives them no meaning. */
export const metadata = z
  .record(foreignName(40), text(500))
  .refine((pairs) => Object.keys(pairs).length <= 20, { message: 'must have at most 20 pairs' });
