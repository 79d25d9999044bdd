import { useMessages, type Translate } from '../../languages/use-messages.tsx';
import type applications from './messages/en.json';

export type ApplicationsTranslate = Translate<typeof applications>;
export const useApplicationsMessages = (): ApplicationsTranslate => useMessages<typeof applications>('applications');
