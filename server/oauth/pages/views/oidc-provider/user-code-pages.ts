import { oauthEndpointPaths } from '../../../protocol/endpoint-paths-and-audiences.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { sampleUserCode } from './user-code.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';

/** Renders the page on which users enter the code that a device shows. After an error, the input field contains `code`. */
export function enterUserCodePage(
  settings: PageSettings,
  { secret, code = '', faults = [] }: { secret: string; code?: string; faults?: readonly FieldError[] },
): Html {
  const { device } = settings.messages;
  const title = device.title;
  return renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${device.type}</p>
      <form method="post" action="${oauthEndpointPaths.code_verification}" novalidate>
        ${hiddenField('xsrf', secret)}
        ${formField({ name: 'user_code', label: device.code, value: code, placeholder: sampleUserCode, autocomplete: 'one-time-code', enterKey: 'next', focus: true }, faults)}
        <button type="submit">${device.next}</button>
      </form>`,
    faults,
  );
}

/** Renders the page that asks whether the code matches the code shown on the device and whether the device belongs to the user. */
export function confirmDevicePage(
  settings: PageSettings,
  { secret, application, code }: { secret: string; application: string; code: string },
): Html {
  const { device } = settings.messages;
  const title = device.confirmTitle({ application });
  return renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${device.same({ application })}</p>
      <p class="code">${code}</p>
      <p class="quiet">${device.notYours}</p>
      <form method="post" action="${oauthEndpointPaths.code_verification}">
        ${hiddenField('xsrf', secret)}${hiddenField('user_code', code)}${hiddenField('confirm', 'yes')}
        <div class="choice">
          <button class="second" name="abort" value="yes">${device.refuse}</button>
          <button>${device.confirm}</button>
        </div>
      </form>`,
  );
}
