import type { TaskResult } from '@mandate/contract';
import { z } from 'zod';
import type { Em } from '../database/orm.ts';
import { append, newFile } from '../tasks/stored-file.ts';
import { permanentFailure, TaskFailure } from '../tasks/task-failure.ts';
import type { Outcome, TaskRun } from '../tasks/task-run.ts';
import type { Mistake } from './cell-values.ts';

type Imported = NonNullable<TaskResult['imported']>;

/** What became of one thing of the file, and what there is to say about its lines. */
export type Verdict = { readonly outcome: keyof Imported; readonly remarks: readonly Remark[] };
export type Remark = { readonly line: number; readonly reference?: string } & Mistake;

/** A file, in the pieces that are imported one by one: always the same ones in the same order, so that an interrupted import can go on. */
export type Importing<Piece> = {
  readonly dryRun: boolean;
  /** Rows of the file. */
  readonly total: number;
  readonly pieces: AsyncIterable<Piece>;
  /** Rows of one piece. */
  readonly rowsOf: (piece: Piece) => number;
  /** First line of one piece in the file. */
  readonly lineOf: (piece: Piece) => number | undefined;
  readonly importPiece: (em: Em, piece: Piece) => Promise<Verdict>;
};

const checkpoint = z.object({
  fileId: z.number(),
  chunks: z.number(),
  remarks: z.number(),
  /** Pieces and rows that are dealt with. */
  pieces: z.number(),
  rows: z.number(),
  imported: z.object({ created: z.number(), updated: z.number(), unchanged: z.number(), refused: z.number() }),
});
type Checkpoint = z.output<typeof checkpoint>;

/** Rows that are dealt with in one transaction: few enough that nobody waits long for it. */
const rowsAtOnce = 200;

/** Imports piece by piece from the checkpoint on; the remarks become the result of the task. */
export async function runImport<Piece>(run: TaskRun, importing: Importing<Piece>): Promise<Outcome> {
  let at = run.task.checkpoint === null ? await begin(run, importing.total) : checkpoint.parse(run.task.checkpoint);
  const done = at.pieces;
  let [seen, batch, rows]: [number, Piece[], number] = [0, [], 0];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const [from, pieces] = [at, batch];
    ({ checkpoint: at } = await run.step((em) => importBatch(em, importing, from, pieces, run.task.attempts)));
    [batch, rows] = [[], 0];
  };
  for await (const piece of importing.pieces) {
    seen += 1;
    if (seen <= done) continue;
    batch.push(piece);
    rows += importing.rowsOf(piece);
    if (rows >= rowsAtOnce) await flush();
  }
  await flush();
  return { fileId: at.fileId, format: 'ndjson', rows: at.remarks, imported: at.imported };
}

async function begin(run: TaskRun, total: number): Promise<Checkpoint> {
  const begun = await run.step(async (em) => {
    const imported: Imported = { created: 0, updated: 0, unchanged: 0, refused: 0 };
    const at: Checkpoint = { fileId: await newFile(em), chunks: 0, remarks: 0, pieces: 0, rows: 0, imported };
    return { checkpoint: at, processed: 0, total };
  });
  return begun.checkpoint;
}

async function importBatch<Piece>(em: Em, importing: Importing<Piece>, from: Checkpoint, pieces: readonly Piece[], attempts: number) {
  const importPieces = importAll(importing, pieces, attempts);
  const verdicts = await (importing.dryRun ? undone(em, importPieces) : importPieces(em));
  const imported = { ...from.imported };
  for (const { outcome } of verdicts) imported[outcome] += 1;
  const remarks = verdicts.flatMap((verdict) => verdict.remarks);
  const rows = pieces.reduce((sum, piece) => sum + importing.rowsOf(piece), from.rows);
  const content = Buffer.from(remarks.map((remark) => `${JSON.stringify(remark)}\n`).join(''));
  const at: Checkpoint = {
    fileId: from.fileId,
    chunks: await append(em, from.fileId, from.chunks, content),
    remarks: from.remarks + remarks.length,
    pieces: from.pieces + pieces.length,
    rows,
    imported,
  };
  return { checkpoint: at, processed: rows };
}

const importAll =
  <Piece>({ importPiece, lineOf }: Importing<Piece>, pieces: readonly Piece[], attempts: number) =>
  async (em: Em): Promise<Verdict[]> => {
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
