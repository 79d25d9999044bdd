import { endpoints } from '../../protocol/endpoints.ts';
import { html, type Html } from './html.ts';
import { field, hidden, page, type Fault, type Setting } from './page-layout.ts';

/** Where the code is typed that a device shows. `code` came with the address, and is only a proposal. */
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

/** Asks whether this is the code on the other screen, and the device one's own. */
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
