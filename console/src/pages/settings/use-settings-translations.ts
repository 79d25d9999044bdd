import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type settings from './messages/en.json';

export type SettingsTranslate = Translate<typeof settings>;
export const useSettingsTranslations = (): SettingsTranslate => useTranslations<typeof settings>('settings');
