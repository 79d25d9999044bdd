/**
 * Creates a pool of items. Only one operation uses an item at a time. Throws if more operations run at the same time than there are items.
 */
export function createPool<Item>(items: readonly Item[]): {
  readonly use: <Result>(work: (item: Item) => Promise<Result>) => Promise<Result>;
} {
  const free = [...items];
  return {
    async use(work) {
      const item = free.shift();
      if (item === undefined) throw new Error(`more than ${items.length} operations run at the same time`);
      try {
        return await work(item);
      } finally {
        free.push(item);
      }
    },
  };
}
