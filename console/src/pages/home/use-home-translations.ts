import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type home from './messages/en.json';

export type HomeTranslate = Translate<typeof home>;
export const useHomeTranslations = (): HomeTranslate => useTranslations<typeof home>('home');
