/** Key-value storage in IndexedDB, shared by all tabs of this origin. Values can be non-extractable keys. */
export const indexedDbKeyValueStore = {
  read: <T>(name: IDBValidKey): Promise<T | undefined> => inStore('readonly', (store) => store.get(name)),
  write: (name: string, value: unknown): Promise<unknown> => inStore('readwrite', (store) => store.put(value, name)),
  remove: (name: IDBValidKey): Promise<unknown> => inStore('readwrite', (store) => store.delete(name)),
  names: (): Promise<IDBValidKey[]> => inStore('readonly', (store) => store.getAllKeys()),
};

async function inStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await openDatabase();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction('kept', mode);
      const request = work(transaction.objectStore('kept'));
      transaction.addEventListener('complete', () => resolve(request.result));
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB is not available')));
    });
  } finally {
    database.close();
  }
}

const openDatabase = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('mandate', 1);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore('kept'));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB is not available')));
  });
