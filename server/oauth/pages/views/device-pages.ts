import { endpoints } from '../../protocol/endpoints.ts';
import { html, type Html } from './html.ts';
import { field, hidden, page, type Fault, type Setting } from './page-layout.ts';

/** Renders the page on which users enter the code that a device shows. `code` prefills the field from the URL. */
export function deviceCodePage(
  setting: Setting,
  { secret, code = '', faults = [] }: { secret: string; code?: string; faults?: readonly Fault[] },
): Html {
  const { device } = setting.words;
  const title = device.title;
  return page(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${code === '' || faults.length > 0 ? device.type : device.compare}</p>
      <form method="post" action="${endpoints.code_verification}" novalidate>
        ${hidden('xsrf', secret)}
        ${field({ name: 'user_code', label: device.code, value: code, autocomplete: 'one-time-code', enterKey: 'next', focus: true }, faults)}
        <button type="submit">${device.next}</button>
      </form>`,
    faults,
  );
}

/** Renders the question whether the code matches the one on the device and whether the device belongs to the user. */
export function confirmDevicePage(
  setting: Setting,
  { secret, application, code }: { secret: string; application: string; code: string },
): Html {
  const { device } = setting.words;
  const title = device.confirmTitle(application);
  return page(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${device.same(application)}</p>
      <p class="code">${code}</p>
      <p class="quiet">${device.notYours}</p>
      <form method="post" action="${endpoints.code_verification}">
        ${hidden('xsrf', secret)}${hidden('user_code', code)}${hidden('confirm', 'yes')}
        <div class="choice">
          <button class="second" name="abort" value="yes">${device.refuse}</button>
          <button>${device.confirm}</button>
        </div>
      </form>`,
  );
}
