/** Parsed Prometheus metrics of a process: values keyed by series name and labels, such as `up` or `requests_total{method="GET"}`. */
export class ScrapedMetrics {
  readonly text: string;
  readonly #series: ReadonlyMap<string, number>;

  constructor(text: string) {
    this.text = text;
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    this.#series = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
  }

  /** Returns a series' value. The labels must be in the same order as in the metrics text. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return this.#series.get(pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`);
  }

  seriesNames(): string[] {
    return [...this.#series.keys()];
  }
}

export async function scrapeMetrics(port: number): Promise<ScrapedMetrics> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (!response.ok) throw new Error(`/metrics returned status ${response.status}`);
  return new ScrapedMetrics(await response.text());
}
