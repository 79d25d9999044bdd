/** Characters that start a formula in a spreadsheet, including the full-width forms that some programs treat in the same way. */
const trigger = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20]`;
/** Characters that a spreadsheet or a parser may treat as the end of a line or cell. An ordinary space within a line is not a separator. */
const separator = String.raw`[\p{Cc}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff]`;
/**
 * The start of a cell or the position after a separator, with any spaces and invisible characters that programs ignore at this position.
 */
const start = String.raw`(?<=(?:^|${separator})[ \p{Cf}]*)`;
// If apostrophes already precede a formula, another apostrophe is added, so that the original text can always be restored. The lookahead
// comes first because it rarely matches.
const unguarded = new RegExp(`(?='*${trigger})${start}`, 'gu');
const guarded = new RegExp(`(?='+${trigger})${start}'`, 'gu');

/**
 * Inserts an apostrophe before any text in a cell that a spreadsheet could interpret as a formula. A formula can be at the start of the
 * cell, or after a line break, tab or Unicode space (OWASP, CSV injection).
 */
export const neutralizeCsvFormulas = (text: string): string => text.replace(/^(?='*[\t\r])/, "'").replaceAll(unguarded, "'");

/** Removes the apostrophes that `neutralizeCsvFormulas` added. */
export const restoreCsvFormulas = (text: string): string => text.replaceAll(guarded, '').replace(/^'(?='*[\t\r])/, '');
