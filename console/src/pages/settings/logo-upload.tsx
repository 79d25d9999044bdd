import type { FileContent, Branding } from '@mandate/client-sdk';
import type { MutationOf } from '@mandate/client-sdk/query';
import { Button, FileButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { useApiMutation } from '../../components/forms/use-api-mutation.ts';
import { useSettingsTranslations } from './use-settings-translations.ts';
import classes from './logo-upload.module.css';

type Props = {
  readonly logo: Branding['logo'];
  /** Name of the shop or service that the logo belongs to. */
  readonly name: string;
  /** Text about the accepted images and the places where the logo is shown. */
  readonly about: string;
  readonly resource: 'branding' | 'identityProviders';
  readonly setLogo: MutationOf<unknown, FileContent>;
  readonly deleteLogo: MutationOf<unknown, void>;
};

/** Limits of the API for logos: the size in KiB, and the width and height in pixels. */
export const logoLimitsInKibAndPixels = { size: 256, minimum: 16, maximum: 2048 } as const;

/** Shows a logo, with buttons to upload and remove the logo. */
export function LogoUpload({ logo, name, about, resource, setLogo, deleteLogo }: Props): ReactNode {
  const t = useSettingsTranslations();
  const upload = useApiMutation(setLogo, { changes: [resource], doneMessage: t('logo.saved') });
  const remove = useApiMutation(deleteLogo, { changes: [resource], doneMessage: t('logo.removed') });
  return (
    <div className={classes['content']}>
      <div className={classes['frame']}>
        {logo ? <img className={classes['image']} src={logo.url} alt={t('logo.of', { name })} /> : <span>{t('logo.none')}</span>}
      </div>
      <p className={classes['about']}>{about}</p>
      <ErrorNotice error={upload.error ?? remove.error} />
      <div className={classes['actions']}>
        <FileButton accept="image/png,image/jpeg,image/webp" onChange={(file) => file && upload.mutate(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={upload.isPending}>
              {t('logo.upload')}
            </Button>
          )}
        </FileButton>
        {logo && (
          <Button variant="danger" loading={remove.isPending} onClick={() => remove.mutate()}>
            {t('logo.remove')}
          </Button>
        )}
      </div>
    </div>
  );
}
