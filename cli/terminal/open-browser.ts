/** Opens a URL in the default browser. Rejects if the system's opener exits with an error. */
export async function openBrowser(url: string): Promise<void> {
  const { default: open } = await import('open');
  const opener = await open(url);
  const exitCode = opener.exitCode ?? (await new Promise<number | null>((resolve) => opener.once('exit', resolve)));
  if (exitCode !== 0) throw new Error(`the program that opens the browser exited with code ${exitCode}`);
}
