import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';

export type ImportFile = {
  readonly em: EntityManager;
  readonly fileId: number;
  readonly format: 'csv' | 'ndjson';
  /**
   * Columns whose nested values are read as JSON text. In all other columns of an NDJSON file, nested values are treated as empty cells.
   */
  readonly jsonColumns?: readonly string[];
  /** Renews the task's lease. Called every 500 rows, because parsing itself does not yield to the event loop. */
  readonly renewLease: () => Promise<void>;
};

/** A position between two rows of a file, as the number of bytes and lines before the position. */
export type FilePosition = { readonly bytes: number; readonly lines: number };
export const startOfFilePosition: FilePosition = { bytes: 0, lines: 0 };

/** One row of an imported file. */
export type ImportFileRow = {
  readonly line: number;
  /** The row's non-empty cells by column name. If the row cannot be read, the map contains only the intact cells. */
  readonly cells: ReadonlyMap<string, string>;
  /** Reason why the row cannot be read. */
  readonly error?: string;
  /** Position of the row's end in the file. */
  readonly end: FilePosition;
  /** Whether the file seems to end in the middle of this row. */
  readonly isCutOff?: boolean;
};

type Cells = Pick<ImportFileRow, 'cells' | 'error'>;

/**
 * Returns the trimmed, non-empty cells. A row that contains the character U+0000 is reported as an error, because stored text must not
 * contain this character.
 */
export function normalizeImportCells(entries: readonly (readonly [string, string])[], error?: string): Cells {
  const intact = entries.filter(([, text]) => !text.includes('\0'));
  const reason = error ?? (intact.length < entries.length ? 'The row contains the character U+0000, which is not allowed.' : undefined);
  const cells = new Map(intact.map(([name, text]) => [name, text.trim()] as const).filter(([, text]) => text !== ''));
  return reason === undefined ? { cells } : { cells, error: reason };
}
