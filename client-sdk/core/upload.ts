import type { CallOptions } from './call.ts';

type Piece = Uint8Array<ArrayBuffer>;
type Pieces = ReadableStream<Piece> | AsyncIterable<Piece>;

/** A file to send. Pieces that come one by one can be sent once; for another try, give a function that begins them anew. */
export type FileContent = string | Piece | Blob | Pieces | (() => Pieces);

export type UploadOptions = CallOptions & {
  /** What the file is; of a Blob its own type, and CSV where nothing is said. */
  readonly contentType?: 'text/csv' | 'application/x-ndjson' | undefined;
  /** Told how many bytes have been sent, where the platform says so: Node does, browsers do not. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
};

export const mediaTypeOf = (file: FileContent, { contentType }: UploadOptions): string =>
  contentType ?? ((file instanceof Blob && file.type) || 'text/csv');

export const canBeSentAgain = (file: FileContent | undefined): boolean =>
  file === undefined || typeof file === 'string' || file instanceof Uint8Array || file instanceof Blob || typeof file === 'function';

/** Browsers do not send what is still being made, or only over some connections. */
const inBrowser = 'document' in globalThis || 'WorkerGlobalScope' in globalThis;

type UploadWatcher = {
  readonly sent: (bytes: number) => void;
  /** The file itself could not be read. */
  readonly broke: (error: unknown) => void;
};

/** The file as the body of one try. Nothing holds it as a whole, except where only that can be sent. */
export async function uploadBody(file: FileContent, watcher: UploadWatcher): Promise<RequestInit> {
  const content = typeof file === 'function' ? file() : typeof file === 'string' || file instanceof Uint8Array ? new Blob([file]) : file;
  if (inBrowser) return { body: content instanceof Blob ? content : await new Response(streamOf(content, watcher)).blob() };
  const body = streamOf(content instanceof Blob ? content.stream() : content, watcher);
  // Without cookies an answer of 401 does not call for a body that could be sent once more.
  const init: RequestInit & { duplex: 'half' } = { body, duplex: 'half', credentials: 'omit' };
  return init;
}

function streamOf(pieces: Pieces, { sent, broke }: UploadWatcher): ReadableStream<Piece> {
  const source = pieces instanceof ReadableStream ? readerOf(pieces) : iteratorOf(pieces);
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = await source.next().catch((error: unknown) => {
        broke(error);
        throw error;
      });
      if (piece === undefined) return controller.close();
      controller.enqueue(piece);
      sent((bytes += piece.length));
    },
    cancel: () => source.end(),
  });
}

type Source = { next(): Promise<Piece | undefined>; end(): Promise<void> };

/** Not every browser can iterate over a stream. */
function readerOf(stream: ReadableStream<Piece>): Source {
  const reader = stream.getReader();
  return { next: async () => (await reader.read()).value, end: () => reader.cancel() };
}

function iteratorOf(pieces: AsyncIterable<Piece>): Source {
  const iterator: AsyncIterator<Piece, unknown> = pieces[Symbol.asyncIterator]();
  return {
    next: async () => {
      const step = await iterator.next();
      return step.done ? undefined : step.value;
    },
    end: async () => {
      await iterator.return?.();
    },
  };
}
