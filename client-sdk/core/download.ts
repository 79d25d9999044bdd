import type { Countdown } from './timeout.ts';

/** A file that is read while it comes: `await new Response(file.stream).text()`, or piece by piece. */
export type DownloadedFile = {
  /** Fails when the rest does not come. To leave it there, cancel it. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Its media type: `text/csv`. */
  readonly type: string;
  /** What the service calls it. */
  readonly name: string | undefined;
  readonly bytes: number | undefined;
};

export function downloadedFile({ headers, body }: Response, time: Countdown): DownloadedFile {
  const length = headers.get('content-length');
  return {
    stream: watched(body ?? new Blob([]).stream(), time),
    type: headers.get('content-type')?.split(';')[0]?.trim() ?? '',
    name: /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1],
    bytes: length === null || headers.has('content-encoding') ? undefined : Number(length),
  };
}

/** The time counts only while somebody waits for the next piece: a slow reader is no failure. */
function watched(body: ReadableStream<Uint8Array<ArrayBuffer>>, time: Countdown): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  time.pause();
  return new ReadableStream(
    {
      async pull(controller) {
        time.restart();
        try {
          const { done, value } = await reader.read();
          if (!done) controller.enqueue(value);
          else {
            time.stop();
            controller.close();
          }
        } catch (cause) {
          time.stop();
          controller.error(time.failure(cause));
        } finally {
          time.pause();
        }
      },
      async cancel(reason) {
        time.stop();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
