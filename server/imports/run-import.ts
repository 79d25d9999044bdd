import type { ImportCounts } from '@mandate/contract';
import { z } from 'zod';
import type { Em } from '../database/orm.ts';
import { append, newFile } from '../tasks/stored-file.ts';
import { permanentFailure, TaskFailure } from '../tasks/task-failure.ts';
import { nothingImported } from '../tasks/task-rows.ts';
import type { Outcome, TaskRun } from '../tasks/task-run.ts';
import type { Mistake } from './cell-values.ts';

/** What became of one thing of the file, and what there is to say about its lines. */
export type Verdict = { readonly outcome: keyof ImportCounts; readonly remarks: readonly Remark[] };
export type Remark = { readonly line: number; readonly reference?: string } & Mistake;

const position = z.object({
  /** The end of the last row that is dealt with. */
  bytes: z.number(),
  lines: z.number(),
  /** The partition that is being imported, and its pieces that are dealt with. */
  partition: z.number().optional(),
  pieces: z.number().optional(),
});
export type ImportPosition = z.output<typeof position>;

const survey = z.object({
  /** Rows of the file. */
  total: z.number(),
  /** Stored files with the rows in another order, if the file cannot be imported from its beginning to its end. */
  partitions: z.array(z.number()).optional(),
});
export type Survey = z.output<typeof survey>;

/** A file, in the pieces that are imported one by one: always the same ones in the same order, so that an interrupted import can go on. */
export type Importing<Piece> = {
  readonly dryRun: boolean;
  /** Reads the whole file once and checks it, before anything is changed. */
  readonly survey: () => Promise<Survey>;
  /** The pieces after a position, each with the position after it. */
  readonly piecesFrom: (from: ImportPosition, survey: Survey) => AsyncIterable<{ readonly piece: Piece; readonly end: ImportPosition }>;
  /** Rows of one piece. */
  readonly rowsOf: (piece: Piece) => number;
  /** First line of one piece in the file. */
  readonly lineOf: (piece: Piece) => number | undefined;
  readonly importPiece: (em: Em, piece: Piece) => Promise<Verdict>;
  /** Imports several pieces with fewer statements than one by one, with the same result. */
  readonly importBatch?: (em: Em, pieces: readonly Piece[]) => Promise<Verdict[]>;
};

const counts = z.object({
  created: z.number(),
  updated: z.number(),
  unchanged: z.number(),
  refused: z.number(),
  differing: z.number(),
});
const checkpoint = survey.extend({
  fileId: z.number(),
  chunks: z.number(),
  remarks: z.number(),
  rows: z.number(),
  position,
  imported: counts,
});
type Checkpoint = z.output<typeof checkpoint>;

/** Rows that are dealt with in one transaction: few enough that nobody waits long for it. */
const rowsAtOnce = 200;

/** Imports piece by piece from the checkpoint on; the remarks become the result of the task. */
export async function runImport<Piece>(run: TaskRun, importing: Importing<Piece>): Promise<Outcome> {
  // A checkpoint in the form of an earlier version begins anew: what it imported is unchanged then.
  let at = checkpoint.safeParse(run.task.checkpoint).data ?? (await begin(run, importing));
  let [batch, rows, end]: [Piece[], number, ImportPosition] = [[], 0, at.position];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const [from, pieces, reached] = [at, batch, end];
    ({ checkpoint: at } = await run.step((em) => importBatch(em, importing, { ...from, position: reached }, pieces, run.task.attempts)));
    [batch, rows] = [[], 0];
  };
  for await (const next of importing.piecesFrom(at.position, at)) {
    batch.push(next.piece);
    rows += importing.rowsOf(next.piece);
    ({ end } = next);
    if (rows >= rowsAtOnce) await flush();
  }
  await flush();
  return { fileId: at.fileId, format: 'ndjson', rows: at.remarks, imported: at.imported };
}

async function begin<Piece>(run: TaskRun, importing: Importing<Piece>): Promise<Checkpoint> {
  const surveyed = await importing.survey();
  const begun = await run.step(async (em) => {
    const at: Checkpoint = {
      ...surveyed,
      fileId: await newFile(em),
      chunks: 0,
      remarks: 0,
      rows: 0,
      position: { bytes: 0, lines: 0 },
      imported: nothingImported,
    };
    return { checkpoint: at, processed: 0, total: surveyed.total, imported: nothingImported };
  });
  return begun.checkpoint;
}

async function importBatch<Piece>(em: Em, importing: Importing<Piece>, from: Checkpoint, pieces: readonly Piece[], attempts: number) {
  const importPieces = importAll(importing, pieces, attempts);
  const verdicts = await (importing.dryRun ? undone(em, importPieces) : importPieces(em));
  const imported = { ...from.imported };
  for (const { outcome } of verdicts) {
    imported[outcome] += 1;
    if (outcome === 'differing') imported.refused += 1;
  }
  const remarks = verdicts.flatMap((verdict) => verdict.remarks);
  const rows = pieces.reduce((sum, piece) => sum + importing.rowsOf(piece), from.rows);
  const content = Buffer.from(remarks.map((remark) => `${JSON.stringify(remark)}\n`).join(''));
  const at: Checkpoint = {
    ...from,
    chunks: await append(em, from.fileId, from.chunks, content),
    remarks: from.remarks + remarks.length,
    rows,
    imported,
  };
  return { checkpoint: at, processed: rows, imported };
}

/** Imports a batch at once if possible. If that fails, imports piece by piece, so that a failure names its line. */
const importAll =
  <Piece>({ importBatch: atOnce, importPiece, lineOf }: Importing<Piece>, pieces: readonly Piece[], attempts: number) =>
  async (em: Em): Promise<Verdict[]> => {
    const done = atOnce && (await em.transactional((inner) => atOnce(inner, pieces)).catch(() => undefined));
    if (done) return done;
    const verdicts: Verdict[] = [];
    for (const piece of pieces) {
      const verdict = importPiece(em, piece).catch((error: unknown) => {
        throw withLine(error, lineOf(piece), attempts);
      });
      verdicts.push(await verdict);
    }
    return verdicts;
  };

/** A permanent failure names the line of the file that caused it. */
function withLine(error: unknown, line: number | undefined, attempts: number): unknown {
  const failure = permanentFailure(error, attempts);
  return failure && line !== undefined ? new TaskFailure(failure.code, `Line ${line}: ${failure.message}`, failure.cause) : error;
}

/** What it would have been: done in full, and taken back. */
async function undone<Result>(em: Em, effect: (em: Em) => Promise<Result>): Promise<Result> {
  const done: Result[] = [];
  const takeBack = new Error('taken back');
  await em
    .transactional(async (inner) => {
      done.push(await effect(inner));
      throw takeBack;
    })
    .catch((error: unknown) => {
      if (error !== takeBack) throw error;
    });
  const [result] = done;
  if (result === undefined) throw new Error('nothing was done');
  return result;
}
