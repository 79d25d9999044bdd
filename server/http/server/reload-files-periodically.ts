import type { Logger } from 'pino';

const checkIntervalMs = 5_000;

export type ReloadedFiles<Content> = {
  /** Reads the files. Throws an error if the files are invalid. */
  readonly read: () => Content;
  /** Called after each successful read, whether the content has changed or not. */
  readonly use: (content: Content) => void;
  /** Message that is logged when the files are invalid, once for each reason. The previously read content stays in use. */
  readonly errorMessage: string;
};

/**
 * Rereads files every five seconds and on SIGHUP. The files are polled rather than watched, because renewal tools replace links and
 * directories.
 */
export function reloadFilesPeriodically<Content>({ read, use, errorMessage }: ReloadedFiles<Content>, log: Logger): Disposable {
  let lastError = '';
  const reload = (): void => {
    try {
      use(read());
      lastError = '';
    } catch (error) {
      const { message } = error instanceof Error ? error : new Error(String(error));
      if (message !== lastError) log.error({ err: error }, errorMessage);
      lastError = message;
    }
  };
  process.on('SIGHUP', reload);
  const timer = setInterval(reload, checkIntervalMs).unref();
  return {
    [Symbol.dispose]() {
      process.off('SIGHUP', reload);
      clearInterval(timer);
    },
  };
}
