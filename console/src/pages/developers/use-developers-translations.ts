import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type developers from './messages/en.json';

export type DevelopersTranslate = Translate<typeof developers>;
export const useDevelopersTranslations = (): DevelopersTranslate => useTranslations<typeof developers>('developers');
