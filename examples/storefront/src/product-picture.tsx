import type { Product } from '@mandate/client-sdk';
import type { ReactNode } from 'react';

declare module 'react' {
  interface CSSProperties {
    /** Hue of a picture, which the stylesheet combines with the color scheme. */
    '--hue'?: number;
  }
}

/**
 * Drawings, each with a pattern that is matched against the product name and category. The first match is used. Each drawing is 100 by 100
 * units in size.
 */
const drawings: readonly (readonly [words: RegExp, drawing: ReactNode])[] = [
  [/heart/i, <path d="M50 80 C10 52 18 22 38 24 C46 25 50 34 50 36 C50 34 54 25 62 24 C82 22 90 52 50 80Z" />],
  [
    /bag|case|purse/i,
    <>
      <path d="M24 38 H76 L82 80 H18Z" />
      <path d="M38 42 V32 C38 16 62 16 62 32 V42" fill="none" strokeWidth="5" stroke="currentColor" />
    </>,
  ],
  [
    /light|lantern|candle|lamp/i,
    <>
      <rect x="40" y="42" width="20" height="40" rx="3" />
      <path d="M50 14 C60 28 58 36 50 38 C42 36 40 28 50 14Z" opacity="0.6" />
    </>,
  ],
  [
    /kitchen|cup|mug|tea|cake|baking|jam|plate|bowl/i,
    <>
      <path d="M24 34 H68 V58 C68 74 58 80 46 80 C34 80 24 74 24 58Z" />
      <path d="M68 42 C84 42 84 62 67 62" fill="none" strokeWidth="6" stroke="currentColor" />
    </>,
  ],
  [
    /garden|flower|plant|bird/i,
    <>
      <path d="M47 50 H53 V84 H47Z" opacity="0.6" />
      {[0, 72, 144, 216, 288].map((angle) => (
        <ellipse key={angle} cx="50" cy="24" rx="10" ry="15" transform={`rotate(${angle} 50 40)`} />
      ))}
    </>,
  ],
  [
    /station|card|paper|book|pencil|sticker/i,
    <>
      <path d="M28 16 H62 L74 28 V84 H28Z" />
      <path d="M38 42 H64 M38 54 H64 M38 66 H56" stroke="var(--picture)" strokeWidth="4" />
    </>,
  ],
  [/clock|alarm/i, <path d="M50 20 A30 30 0 1 1 49.9 20Z M47 32 H53 V48 L64 56 L60 61 L47 52Z" fillRule="evenodd" />],
  [
    /toy|game|doll|party|gift|christmas/i,
    <>
      <rect x="22" y="44" width="56" height="38" rx="3" />
      <path d="M18 32 H82 V44 H18Z M46 32 H54 V82 H46Z" opacity="0.6" />
      <path d="M50 32 C34 30 32 14 42 16 C48 17 50 26 50 32 C50 26 52 17 58 16 C68 14 66 30 50 32Z" />
    </>,
  ],
];
const boxDrawing = (
  <path d="M50 16 L82 32 V68 L50 84 L18 68 V32Z M50 50 L82 32 M50 50 L18 32 M50 50 V84" strokeWidth="3" stroke="var(--picture)" />
);

/** A drawing for a product, in a color derived from its name. The drawing is decorative, because the name is shown beside it. */
export function ProductPicture({ product }: { readonly product: Pick<Product, 'name' | 'category'> }): ReactNode {
  const text = `${product.name} ${product.category ?? ''}`;
  const hue = Array.from(product.name).reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 360, 7);
  return (
    <svg className="picture" viewBox="0 0 100 100" aria-hidden="true" style={{ '--hue': hue }}>
      <g fill="currentColor">{drawings.find(([words]) => words.test(text))?.[1] ?? boxDrawing}</g>
    </svg>
  );
}
