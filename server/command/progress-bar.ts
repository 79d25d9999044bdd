import type { WriteStream } from 'node:tty';

export type OnProgress = (stage: string, done: number, of: number) => void;

const width = 30;

/** One line that fills up on a terminal; elsewhere one line for each stage that is through. */
export function progressBar(stream: Pick<WriteStream, 'isTTY' | 'write'>): OnProgress {
  let shown = -1;
  return (stage, done, of) => {
    if (!stream.isTTY) {
      if (done === of) stream.write(`${stage}: ${of}\n`);
      return;
    }
    const filled = of === 0 ? width : Math.floor((done / of) * width);
    if (filled === shown && done < of) return;
    shown = filled;
    stream.write(`\r${stage.padEnd(10)} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${of}${done === of ? '\n' : ''}`);
  };
}
