/** Opens `url`; rejects when the system's opener fails, which it tells by its exit code only. */
export async function openBrowser(url: string): Promise<void> {
  const { default: open } = await import('open');
  const opener = await open(url);
  const exitCode = opener.exitCode ?? (await new Promise<number | null>((resolve) => opener.once('exit', resolve)));
  if (exitCode !== 0) throw new Error(`the browser's opener exited with ${exitCode}`);
}
