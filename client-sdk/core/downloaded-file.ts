import type { RequestTimeout } from './request-timeout.ts';

/** A streamed file. Read the whole stream with `await new Response(file.stream).text()`, or read the stream chunk by chunk. */
export type DownloadedFile = {
  /** Fails if the download is interrupted. Cancel the stream to stop the download. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Media type, such as `text/csv`. */
  readonly type: string;
  /** File name from the `Content-Disposition` header. */
  readonly name: string | undefined;
  readonly bytes: number | undefined;
};

/** Converts a response to a file whose stream fails if no data arrives within the timeout. */
export function downloadedFileFromResponse({ headers, body }: Response, timeout: RequestTimeout): DownloadedFile {
  const length = headers.get('content-length');
  return {
    stream: withReadTimeout(body ?? new Blob([]).stream(), timeout),
    type: headers.get('content-type')?.split(';')[0]?.trim() ?? '',
    name: /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1],
    bytes: length === null || headers.has('content-encoding') ? undefined : Number(length),
  };
}

/** Applies the timeout to each read. The timer runs only while a read is pending, so a slow consumer does not cause a timeout. */
function withReadTimeout(body: ReadableStream<Uint8Array<ArrayBuffer>>, timeout: RequestTimeout): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  timeout.pause();
  return new ReadableStream(
    {
      async pull(controller) {
        timeout.restart();
        try {
          const { done, value } = await reader.read();
          if (!done) controller.enqueue(value);
          else {
            timeout.stop();
            controller.close();
          }
        } catch (cause) {
          timeout.stop();
          controller.error(timeout.failure(cause));
        } finally {
          timeout.pause();
        }
      },
      async cancel(reason) {
        timeout.stop();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
