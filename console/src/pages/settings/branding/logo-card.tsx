import type { Branding } from '@mandate/client-sdk';
import { Button, FileButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useAction } from '../../../components/forms/use-action.ts';
import { useSettingsMessages } from '../use-settings-messages.ts';
import classes from './logo-card.module.css';

export function LogoCard({ branding }: { readonly branding: Branding }): ReactNode {
  const t = useSettingsMessages();
  const upload = useAction(mutations.branding.setLogo(), { changes: ['branding'], doneMessage: t('logo.saved') });
  const remove = useAction(mutations.branding.deleteLogo(), { changes: ['branding'], doneMessage: t('logo.removed') });
  return (
    <Card title={t('logo')}>
      <div className={classes['content']}>
        <div className={classes['frame']}>
          {branding.logo ? (
            <img className={classes['image']} src={branding.logo.url} alt={t('logo.of', { name: branding.name })} />
          ) : (
            <span>{t('logo.none')}</span>
          )}
        </div>
        <p className={classes['about']}>{t('logo.about')}</p>
        <ErrorNotice error={upload.error ?? remove.error} />
        <div className={classes['actions']}>
          <FileButton accept="image/png,image/jpeg,image/webp" onChange={(file) => file && upload.mutate(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={upload.isPending}>
                {t('logo.upload')}
              </Button>
            )}
          </FileButton>
          {branding.logo && (
            <Button variant="default" loading={remove.isPending} onClick={() => remove.mutate()}>
              {t('logo.remove')}
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}
