import type { LoadShedder } from './load-shedder.ts';

/** Lets background work check whether this process is processing requests. */
export class RequestActivityMonitor {
  #loadShedder: LoadShedder | undefined;

  /** Sets the load shedder of the HTTP server, which starts after the background jobs. */
  watch(loadShedder: LoadShedder): void {
    this.#loadShedder = loadShedder;
  }

  /** `false` while all requests are only waiting for their bodies or, in a long poll, for an event. */
  get areInProgress(): boolean {
    const { working = 0, waiting = 0 } = this.#loadShedder?.counts ?? {};
    return working + waiting > 0;
  }
}
