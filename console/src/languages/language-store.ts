/** Languages of the console, each with its name in that language. */
export const languageNames = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español' } as const;
export type Language = keyof typeof languageNames;

const storageKey = 'mandate console language';
const isLanguage = (tag: string): tag is Language => Object.hasOwn(languageNames, tag);
const listeners = new Set<() => void>();
let language = findInitialLanguage();

/** Returns the language that the user has chosen, or the first supported one that the browser prefers, or English. */
function findInitialLanguage(): Language {
  const preferred = [localStorage.getItem(storageKey) ?? '', ...navigator.languages].map((tag) => tag.split('-')[0] ?? '');
  return preferred.find(isLanguage) ?? 'en';
}

export const getLanguage = (): Language => language;

/** Changes the language of the console in this browser. */
export function setLanguage(next: Language): void {
  language = next;
  localStorage.setItem(storageKey, next);
  listeners.forEach((listener) => listener());
}

export function subscribeToLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
