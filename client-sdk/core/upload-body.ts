import type { CallOptions } from './api-call.ts';

type Chunk = Uint8Array<ArrayBuffer>;
type Chunks = ReadableStream<Chunk> | AsyncIterable<Chunk>;

/** A file to upload. A stream or iterable can be sent only once. To allow retries, pass a function that opens the stream or iterable. */
export type FileContent = string | Chunk | Blob | Chunks | (() => Chunks);

export type UploadOptions = CallOptions & {
  /** Media type of the file (default: the type of a Blob, otherwise `text/csv`). */
  readonly contentType?: 'text/csv' | 'application/x-ndjson' | 'image/png' | 'image/jpeg' | 'image/webp' | undefined;
  /** Called with the number of bytes that have been sent. Supported by Node; browsers do not report upload progress. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
};

/** Returns a file's media type. */
export const resolveUploadMediaType = (file: FileContent, { contentType }: UploadOptions): string =>
  contentType ?? ((file instanceof Blob && file.type) || 'text/csv');

/** Returns whether a file can be sent more than once. */
export const canSendFileMoreThanOnce = (file: FileContent | undefined): boolean =>
  file === undefined || typeof file === 'string' || file instanceof Uint8Array || file instanceof Blob || typeof file === 'function';

/**
 * Some browsers do not support streaming uploads; others support them only over HTTP/2 or HTTP/3. The global function `importScripts`
 * exists only in browser workers.
 */
const inBrowser = 'document' in globalThis || 'importScripts' in globalThis;

type UploadObserver = {
  readonly sent: (bytes: number) => void;
  /** Called if the file cannot be read. */
  readonly broke: (error: unknown) => void;
};

/** Returns the file as the request body for one attempt. The file is streamed, except in browsers, which can only send complete files. */
export async function createUploadBody(file: FileContent, observer: UploadObserver): Promise<RequestInit> {
  const content = typeof file === 'function' ? file() : typeof file === 'string' || file instanceof Uint8Array ? new Blob([file]) : file;
  if (inBrowser) return { body: content instanceof Blob ? content : await new Response(streamOf(content, observer)).blob() };
  const body = streamOf(content instanceof Blob ? content.stream() : content, observer);
  // With credentials, fetch would try to resend the body after a 401 response, which is impossible for a stream.
  const init: RequestInit & { duplex: 'half' } = { body, duplex: 'half', credentials: 'omit' };
  return init;
}

function streamOf(chunks: Chunks, { sent, broke }: UploadObserver): ReadableStream<Chunk> {
  const source = chunks instanceof ReadableStream ? readerOf(chunks) : iteratorOf(chunks);
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await source.next().catch((error: unknown) => {
        broke(error);
        throw error;
      });
      if (done) return controller.close();
      controller.enqueue(value);
      sent((bytes += value.length));
    },
    cancel: () => source.end(),
  });
}

type Source = { next(): Promise<IteratorResult<Chunk, unknown>>; end(): Promise<void> };

/** Reads a stream with a reader, because not every browser can iterate over a stream. */
function readerOf(stream: ReadableStream<Chunk>): Source {
  const reader = stream.getReader();
  return { next: () => reader.read(), end: () => reader.cancel() };
}

function iteratorOf(chunks: AsyncIterable<Chunk>): Source {
  const iterator: AsyncIterator<Chunk, unknown> = chunks[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    end: async () => {
      await iterator.return?.();
    },
  };
}
