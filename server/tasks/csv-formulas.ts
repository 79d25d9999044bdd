/** First characters of a formula in a spreadsheet, with the full-width forms that some programs treat alike. */
const trigger = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20]`;
/** What a spreadsheet, or a program that splits the text again, can take for the end of a line or a cell. An ordinary space within a line is not one. */
const separator = String.raw`[\p{Cc}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff]`;
/** The start of a cell or of a piece after a separator, with the spaces and invisible characters that programs trim there. */
const start = String.raw`(?<=(?:^|${separator})[ \p{Cf}]*)`;
// An apostrophe is added before one that is there already, so that every text can be restored. The lookahead comes first: it rarely matches.
const unguarded = new RegExp(`(?='*${trigger})${start}`, 'gu');
const guarded = new RegExp(`(?='+${trigger})${start}'`, 'gu');

/**
 * Puts an apostrophe before everything in a cell that a spreadsheet could take for a formula: at the start of the cell, and after each
 * line break, tab or Unicode space within it (OWASP, CSV injection).
 */
export const neutralizeFormulas = (text: string): string => text.replace(/^(?='*[\t\r])/, "'").replaceAll(unguarded, "'");

/** Removes what `neutralizeFormulas` added. */
export const restoreFormulas = (text: string): string => text.replaceAll(guarded, '').replace(/^'(?='*[\t\r])/, '');
