import { html, type Html, type HtmlChild } from '../../../../http/response/html-template.ts';
import { hiddenField, type PageSettings } from '../page-layout-and-form-fields.ts';

export type ConfirmedAction = {
  readonly csrf: string;
  /** Name and value of the hidden field that identifies the object; unique on the page. */
  readonly field: { readonly name: string; readonly value: string };
  /** Text and accessible name of the button that opens the confirmation. */
  readonly text: string;
  readonly label: string;
  /** Sentence that states the consequence of the action. */
  readonly consequence: string;
  /** Additional fields, shown in the confirmation. */
  readonly fields?: HtmlChild;
  /** Text of the button that submits the form. */
  readonly submit: string;
  /** Whether a line separates the form from the entry of the last device. */
  readonly isForAllDevices?: boolean;
};

/**
 * Renders the form of an action that cannot be undone. The first button only opens the confirmation, which states the consequence and
 * contains the button that submits the form; it then closes the confirmation. The confirmation does not require the page script.
 */
export function confirmedActionForm({ messages: { consent } }: PageSettings, action: ConfirmedAction): Html {
  const { csrf, field, text, label, consequence, fields, submit, isForAllDevices = false } = action;
  const id = `confirm-${field.name}-${field.value.replaceAll(',', '-')}`;
  return html`<details class="confirm${isForAllDevices && ' all-devices'}">
    <summary>
      <span class="when-closed"><span aria-hidden="true">${text}</span><span class="visually-hidden">${label}</span></span>
      <span class="when-open">${consent.cancel}</span>
    </summary>
    <form method="post">
      ${hiddenField('csrf', csrf)}${hiddenField(field.name, field.value)}
      <p id="${id}">${consequence}</p>
      ${fields}
      <button class="danger small" aria-describedby="${id}">${submit}</button>
    </form>
  </details>`;
}
