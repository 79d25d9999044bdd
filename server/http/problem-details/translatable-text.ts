/** An amount in minor units, such as `{ amount: 1250, currency: 'EUR' }` for 12.50 EUR. */
export type Amount = { readonly amount: number; readonly currency: string };

/** A list, formatted as "A, B or C" or as "A, B and C". */
type List = { readonly anyOf: readonly string[] } | { readonly allOf: readonly (string | TranslatableText)[] };

/** A value that is inserted into a text. Values other than strings are formatted for the language of the text. */
export type TextValue = string | number | Date | Amount | List | TranslatableText;

/** Text with named values. The text is translated when the language of the response is known. */
export class TranslatableText {
  /** The English text with the names of the values in braces. The catalogs contain the translations of this text. */
  readonly message: string;
  readonly values: Readonly<Record<string, TextValue>>;

  constructor(message: string, values: Readonly<Record<string, TextValue>> = {}) {
    this.message = message;
    this.values = values;
  }
}

/** Sentence fragment that describes an error in a field, and that follows the name of the field. */
export type FieldErrorDetail = string | TranslatableText;

/** Text that explains a problem: one sentence from the catalogs, one text with values, or a list of these. */
export type ProblemDetail = string | TranslatableText | readonly ProblemDetail[];

/**
 * Template tag that creates a translatable text from an English text with values. Each value has a name, which the translations use:
 * ``translatable`Order ${{ id }} was not found.` ``. A test verifies that every catalog contains the text.
 */
export const translatable = (texts: TemplateStringsArray, ...values: readonly Readonly<Record<string, TextValue>>[]): TranslatableText => {
  const placeholders = values.map((value) => `{${Object.keys(value).join()}}`);
  return new TranslatableText(
    String.raw({ raw: texts }, ...placeholders),
    Object.fromEntries(values.flatMap((value) => Object.entries(value))),
  );
};
