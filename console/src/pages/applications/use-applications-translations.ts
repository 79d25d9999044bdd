import { useTranslations, type Translate } from '../../languages/use-translations.tsx';
import type applications from './messages/en.json';

export type ApplicationsTranslate = Translate<typeof applications>;
export const useApplicationsTranslations = (): ApplicationsTranslate => useTranslations<typeof applications>('applications');
