import { expect, test } from 'vitest';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { checkboxField, formField, hiddenField } from '../../../server/oauth/pages/views/page-layout-and-form-fields.ts';

const field = { name: 'email', label: 'E-mail', autocomplete: 'username', enterKey: 'next' } as const;
const fault = { field: 'email', text: 'Enter an address' };

/** Returns the HTML without line breaks and repeated spaces. */
const compact = (markup: { toString(): string }): string => markup.toString().replaceAll(/\s+/g, ' ');
/** Returns the attributes of the `input` element. */
const attributes = (...options: Parameters<typeof formField>): string[] => {
  const [, input = ''] = /<input ([^>]*?) ?\/>/.exec(compact(formField(...options))) ?? [];
  return [...input.matchAll(/[\w-]+(?:="[^"]*")?/g)].map(([attribute]) => attribute);
};

const basic = ['id="email"', 'name="email"', 'type="text"', 'value=""', 'autocomplete="username"', 'enterkeyhint="next"'];

test('a field is a required text input with a label', () => {
  expect(attributes(field, [])).toEqual([...basic, 'required']);
  expect(compact(formField(field, []))).toMatch(/^<div class="field"> <label for="email">E-mail<\/label> <input .*\/> <\/div>$/);
});

test('a field can show a sample value', () => {
  expect(attributes({ ...field, placeholder: 'AB-12' }, [])).toEqual([...basic, 'required', 'placeholder="AB-12"']);
});

test('an optional field is not required', () => {
  expect(attributes({ ...field, optional: true }, [])).toEqual(basic);
});

test('an e-mail address field opens the keyboard for e-mail addresses, and keeps the entered value', () => {
  const address = [...basic.with(2, 'type="email"').with(3, 'value="a@b.example"'), 'required'];
  expect(attributes({ ...field, type: 'email', value: 'a@b.example' }, [])).toEqual([
    ...address,
    'inputmode="email"',
    'autocapitalize="none"',
    'spellcheck="false"',
  ]);
});

test('a code field opens the keyboard for digits, and has an attribute for the page script', () => {
  expect(attributes({ ...field, inputMode: 'numeric', digits: { count: 6, note: 'Sent when complete' } }, [])).toEqual([
    ...basic,
    'required',
    'inputmode="numeric"',
    'data-digits="6"',
    'data-note="Sent when complete"',
  ]);
});

test('a hint and an error message are announced with the field', () => {
  const hint = { ...field, hint: 'As in your invitation' };
  expect(attributes(hint, [])).toEqual([...basic, 'required', 'aria-describedby="email-hint"']);
  expect(attributes(hint, [fault])).toEqual([...basic, 'required', 'aria-describedby="email-hint email-fault"', 'aria-invalid="true"']);
  expect(attributes(field, [fault])).toEqual([...basic, 'required', 'aria-describedby="email-fault"', 'aria-invalid="true"']);
  expect(attributes(field, [{ ...fault, field: 'name' }])).toEqual([...basic, 'required']);
  const page = compact(formField(hint, [fault]));
  expect(page).toContain('<p class="hint" id="email-hint">As in your invitation</p><p class="fault" id="email-fault">Enter an address</p>');
});

test('the first field gets the focus, unless the page shows errors', () => {
  expect(attributes({ ...field, focus: true }, [])).toEqual([...basic, 'required', 'autofocus']);
  expect(attributes({ ...field, focus: true }, [{ ...fault, field: 'name' }])).toEqual([...basic, 'required']);
  expect(attributes({ ...field, focus: false }, [])).toEqual([...basic, 'required']);
});

test('a password field has a hidden button that the page script shows', () => {
  const { reveal } = bundledLanguages.default.messages;
  const password = compact(formField({ ...field, name: 'password', type: 'password', reveal }, []));
  expect(password).toContain(
    `<button type="button" class="reveal" data-reveal="password" data-other="${reveal.hide}" data-other-label="${reveal.hidePassword}" aria-label="${reveal.showPassword}" aria-controls="password" hidden > ${reveal.show} </button>`,
  );
  expect(compact(formField({ ...field, type: 'password' }, []))).not.toContain('<button');
});

test('a checkbox has a label, details and its state', () => {
  const box = { name: 'keep', value: '1', label: 'Keep' };
  expect(compact(checkboxField(box))).toBe(
    '<label class="check"> <input type="checkbox" name="keep" value="1" /> <span>Keep</span> </label>',
  );
  expect(compact(checkboxField({ ...box, checked: true, details: ['One', 'Two'] }))).toBe(
    '<label class="check"> <input type="checkbox" name="keep" value="1" checked /> <span>Keep<small>One</small><small>Two</small></span> </label>',
  );
  expect(compact(hiddenField('csrf', '"x"'))).toBe('<input type="hidden" name="csrf" value="&quot;x&quot;" />');
});
