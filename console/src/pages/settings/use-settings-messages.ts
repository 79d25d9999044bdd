import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type settings from './messages/en.json';

export type SettingsTranslate = Translate<typeof settings>;
export const useSettingsMessages = (): SettingsTranslate => useMessages<typeof settings>('settings');
