import { brandingUpdateSchema, logoLimits, logoMediaTypes } from '@mandate/contract';
import type { ShopBranding } from '../../../../branding/default-branding.ts';
import { getLogoPath } from '../../../../logos/logo-path.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';
import { formField, hiddenField, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';

export type BrandingFieldName = keyof typeof brandingUpdateSchema.shape;

export const brandingFieldNames: readonly BrandingFieldName[] = brandingUpdateSchema.keyof().options;

export type BrandingPageViewModel = {
  readonly csrf: string;
  readonly branding: ShopBranding;
  /** Field values as the administrator typed them. */
  readonly typed: Readonly<Record<BrandingFieldName, string>>;
  readonly saved?: boolean;
  readonly faults?: readonly FieldError[];
};

/** Renders the page on which administrators change the branding. */
export function brandingPage(settings: PageSettings, content: BrandingPageViewModel): Html {
  const { branding: messages } = settings.messages;
  const { saved = false, faults = [] } = content;
  return renderAccountSubpage(
    settings,
    messages.title,
    html`${saved && html`<p role="status"><strong>${messages.saved}</strong></p>`}
      <p class="quiet">${messages.text}</p>
      ${settingsForm(settings, content)}${logoSection(settings, content)}`,
    faults,
  );
}

function settingsForm(
  { messages: { branding: messages } }: PageSettings,
  { csrf, branding, typed, faults = [] }: BrandingPageViewModel,
): Html {
  const field = (name: BrandingFieldName, label: string, hint?: string): Html =>
    formField(
      {
        name,
        label,
        value: typed[name],
        autocomplete: 'off',
        enterKey: 'done',
        optional: name !== 'name' && name !== 'accent_color',
        ...(hint !== undefined && { hint }),
      },
      faults,
    );
  return html`<form method="post" novalidate>
    ${hiddenField('csrf', csrf)}${hiddenField('version', String(branding.version))}
    ${field('name', messages.name)}${field('accent_color', messages.accentColor, messages.accentColorHint)}
    <p class="hint">${messages.preview}</p>
    <p class="preview"><span class="sample">${messages.previewButton}</span> <span class="link">${messages.previewLink}</span></p>
    <section>
      <h2>${messages.links}</h2>
      <p class="hint">${messages.linksHint}</p>
      ${field('help_url', messages.helpUrl)}${field('terms_url', messages.termsUrl)}${field('privacy_url', messages.privacyUrl)}
    </section>
    <section>
      <h2>${messages.emails}</h2>
      ${field('email_sender_name', messages.emailSenderName, messages.emailSenderNameHint)}
      ${footerField(messages.emailFooter, messages.emailFooterHint, typed.email_footer, faults)}
    </section>
    <button>${messages.save}</button>
  </form>`;
}

function footerField(label: string, hint: string, value: string, faults: readonly FieldError[]): Html {
  const name: BrandingFieldName = 'email_footer';
  const fault = faults.find(({ field }) => field === name);
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <p class="hint" id="${name}-hint">${hint}</p>
    ${fault && html`<p class="fault" id="${name}-fault">${fault.text}</p>`}
    <textarea
      id="${name}"
      name="${name}"
      rows="3"
      aria-describedby="${name}-hint${fault && ` ${name}-fault`}"
      ${fault && html`aria-invalid="true"`}
    >
${value}</textarea>
  </div>`;
}

function logoSection({ messages: { branding: messages } }: PageSettings, { csrf, branding, faults = [] }: BrandingPageViewModel): Html {
  const { logo, name } = branding;
  const fault = faults.find(({ field }) => field === 'logo');
  return html`<section>
    <h2>${messages.logo}</h2>
    ${logo && html`<img class="current-logo" src="${getLogoPath(logo)}" alt="${name}" width="${logo.width}" height="${logo.height}" />`}
    <form method="post" action="/account/branding/logo" enctype="multipart/form-data" novalidate>
      ${hiddenField('csrf', csrf)}
      <div class="field">
        <label for="logo">${messages.logoFile}</label>
        <p class="hint" id="logo-hint">
          ${messages.logoHint({ size: logoLimits.bytes / 1024, minimum: logoLimits.minSide, maximum: logoLimits.maxSide })}
        </p>
        ${fault && html`<p class="fault" id="logo-fault">${fault.text}</p>`}
        <input
          id="logo"
          name="logo"
          type="file"
          required
          accept="${logoMediaTypes.join(',')}"
          aria-describedby="logo-hint${fault && ' logo-fault'}"
          ${fault && html`aria-invalid="true"`}
        />
      </div>
      <button class="second">${messages.logoUpload}</button>
    </form>
    ${
      logo &&
      html`<form method="post" action="/account/branding/logo/remove">
        ${hiddenField('csrf', csrf)}<button class="danger second">${messages.logoDelete}</button>
      </form>`
    }
  </section>`;
}
