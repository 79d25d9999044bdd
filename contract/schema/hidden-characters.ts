/**
 * Characters that are invisible or change the direction of the text around them: controls, line and paragraph separators, bidirectional
 * controls, default ignorable code points (zero-width characters, tags, variation selectors, fillers), the Braille blank, and the
 * format controls of interlinear annotations and hieroglyphs (Unicode Standard Annex 44).
 */
const suspicious =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1345f}]|\p{Surrogate}/u;

/** Scripts whose spelling uses zero-width joiners and non-joiners, for example in Persian and Sinhala names. */
const cursive = String.raw`[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}]`;
const brahmic = String.raw`[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Balinese}\p{Script=Javanese}]`;

/**
 * Sequences in which a hidden character is part of ordinary spelling: emoji sequences that Unicode recommends for interchange, an emoji
 * with a variation selector, a joiner or non-joiner between two letters of a cursive script (RFC 5892, appendix A) or after a letter or
 * sign of a Brahmic script, and a variation selector after an ideograph or a Mongolian letter.
 */
const ordinary = [
  /\p{RGI_Emoji}|\p{Extended_Pictographic}[\ufe0e\ufe0f]/gv,
  new RegExp(String.raw`(?<=${cursive})[\u200c\u200d](?=${cursive})`, 'gu'),
  new RegExp(String.raw`(?<=${brahmic})[\u200c\u200d]`, 'gu'),
  /(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}](?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])/gu,
  /(?<=\p{Script=Mongolian})[\u180b-\u180f](?![\u180b-\u180f])/gu,
];

/**
 * Finds the first character that must not occur in a one-line name. Such a character could disguise a name, or make two different names
 * look the same. Returns the character in the form `U+XXXX`, or `undefined` if the text contains no such character.
 */
export function findHiddenCharacterCodePoint(text: string): string | undefined {
  if (!suspicious.test(text)) return undefined;
  // Ordinary sequences, such as emoji, are replaced with a visible character. If a sequence were removed, the characters before and after
  // the sequence would become adjacent.
  const rest = ordinary.reduce((left, pattern) => left.replaceAll(pattern, '\ufffd'), text);
  const found = suspicious.exec(rest)?.[0];
  return found && `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
