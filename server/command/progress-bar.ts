import type { WriteStream } from 'node:tty';

export type OnProgress = (stage: string, done: number, of: number) => void;

const width = 30;

/** Returns a function that draws a progress bar on a terminal or, if the stream is not a terminal, prints one line per completed step. */
export function createProgressBar(stream: Pick<WriteStream, 'isTTY' | 'write'>): OnProgress {
  let shownWidth = -1;
  return (stage, done, of) => {
    if (!stream.isTTY) {
      if (done === of) stream.write(`${stage}: ${of}\n`);
      return;
    }
    const filled = of === 0 ? width : Math.floor((done / of) * width);
    if (filled === shownWidth && done < of) return;
    shownWidth = filled;
    stream.write(`\r${stage.padEnd(10)} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${of}${done === of ? '\n' : ''}`);
  };
}
