import type { Em } from '../database/entity-manager/entity-manager.ts';

export type StoredFile = {
  readonly em: Em;
  readonly fileId: number;
  readonly format: 'csv' | 'ndjson';
  /** Called every few hundred rows, because parsing does not pause by itself. */
  readonly keep: () => Promise<void>;
};

/** A place between two rows of a file: the bytes and lines before it. */
export type FilePosition = { readonly bytes: number; readonly lines: number };
export const startOfFile: FilePosition = { bytes: 0, lines: 0 };

/** One row of an imported file. */
export type FileRecord = {
  readonly line: number;
  /** Text of each column by name, without empty cells; only the intact cells of a row that cannot be read. */
  readonly cells: ReadonlyMap<string, string>;
  /** Why the row cannot be read. */
  readonly mistake?: string;
  /** The end of the row in the file. */
  readonly end: FilePosition;
  /** Whether the file ends within the row, as far as the row shows. */
  readonly isCutOff?: boolean;
};

type Cells = Pick<FileRecord, 'cells' | 'mistake'>;

/** Returns the trimmed cells that are not empty. A row with U+0000, which no stored text may contain, has a mistake. */
export function cellsFrom(entries: readonly (readonly [string, string])[], mistake?: string): Cells {
  const intact = entries.filter(([, text]) => !text.includes('\0'));
  const why = mistake ?? (intact.length < entries.length ? 'The row has the character U+0000 in it, which no text may have.' : undefined);
  const cells = new Map(intact.map(([name, text]) => [name, text.trim()] as const).filter(([, text]) => text !== ''));
  return why === undefined ? { cells } : { cells, mistake: why };
}
