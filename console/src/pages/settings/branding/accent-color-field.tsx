import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from './accent-color-field.module.css';

type Props = {
  readonly value: string;
  readonly error: string | undefined;
  readonly shopName: string;
  readonly onChange: (color: string) => void;
};

const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** Text field for a color, with the browser's color picker and a preview of a page in this color. */
export function AccentColorField({ value, error, shopName, onChange }: Props): ReactNode {
  const t = useSettingsTranslations();
  return (
    <div className={classes['field']}>
      <div className={classes['inputs']}>
        <TextInput
          label={t('branding.accent_color')}
          description={t('branding.accentColorAbout')}
          required
          maxLength={7}
          value={value}
          error={isColor(value) ? error : t('branding.accentColorInvalid')}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        <input
          type="color"
          className={classes['picker']}
          aria-label={t('branding.pickColor')}
          value={isColor(value) ? value.toLowerCase() : '#000000'}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </div>
      {isColor(value) && <Preview color={value} shopName={shopName} />}
    </div>
  );
}

/** A sketch of a page. The sketch is decorative, because the text beside it states the color. */
function Preview({ color, shopName }: { readonly color: string; readonly shopName: string }): ReactNode {
  const t = useSettingsTranslations();
  return (
    <div className={classes['preview']} aria-hidden="true">
      <span className={classes['mark']} style={{ background: color, color: textColorOn(color) }}>
        {shopName.trim().charAt(0).toUpperCase()}
      </span>
      <strong>{shopName}</strong>
      <span className={classes['button']} style={{ background: color, color: textColorOn(color) }}>
        {t('branding.previewButton')}
      </span>
    </div>
  );
}

/** Returns the text color that has the greater contrast with the background `color` (WCAG 2.2, relative luminance). */
function textColorOn(color: string): '#ffffff' | '#000000' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = parseInt(color.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? '#ffffff' : '#000000';
}
