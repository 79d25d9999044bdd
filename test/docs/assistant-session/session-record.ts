/** A Markdown document that records the messages between an assistant and a server. */
export class SessionRecord {
  readonly #parts: string[] = [];
  readonly #replacements: (readonly [text: string, replacement: string])[];

  /** @param replacements values that differ between runs, such as the origin of the server */
  constructor(...replacements: (readonly [text: string, replacement: string])[]) {
    this.#replacements = replacements;
  }

  text(...paragraphs: string[]): void {
    this.#parts.push(...paragraphs);
  }

  heading(text: string): void {
    this.#parts.push(`## ${text}`);
  }

  block(language: string, text: string): void {
    this.#parts.push(`\`\`\`${language}\n${text.trimEnd()}\n\`\`\``);
  }

  /** Returns the document. Timestamps are replaced, because they differ between runs. */
  toMarkdown(): string {
    const text = `${this.#parts.join('\n\n')}\n`;
    const replaced = this.#replacements.reduce((result, [from, to]) => result.replaceAll(from, to), text);
    return replaced.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (timestamp) =>
      new Date(timestamp) > new Date() ? '2026-12-01T00:00:00.000Z' : '2026-11-24T10:00:00.000Z',
    );
  }
}
