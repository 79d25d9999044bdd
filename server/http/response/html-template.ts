/** Escaped HTML markup. */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type HtmlChild = Html | string | number | false | null | undefined | readonly HtmlChild[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function render(child: HtmlChild): string {
  if (child instanceof Html) return child.toString();
  if (child === false || child === null || child === undefined) return '';
  if (typeof child === 'string' || typeof child === 'number') {
    return String(child).replace(/[&<>"']/g, (character) => entities[character] ?? character);
  }
  return child.map(render).join('');
}

/** Template tag that escapes every interpolated value except `Html` objects. Attribute values must be quoted. */
export const html = (strings: TemplateStringsArray, ...children: readonly HtmlChild[]): Html =>
  new Html(String.raw({ raw: strings }, ...children.map(render)));
