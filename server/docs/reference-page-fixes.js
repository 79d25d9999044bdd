// Fixes accessibility problems in Scalar (missing names, wrong roles, and areas that cannot be scrolled with the keyboard).

/** Accessible names for controls that have only an icon. */
const names = [
  ['button[class*="copy-button"]', 'Copy'],
  ['[role="combobox"]', 'Search'],
  // These controls exist only to move the focus out of a list, but can receive the focus themselves.
  ['[data-headlessui-focus-guard]', 'Leave the list'],
  ['.code-input-lite__editor', 'Value'],
  ['.cm-content', 'Text'],
  ['[role="dialog"] section[aria-live]', 'Notifications about requests'],
];
const roles = [
  // Scalar uses the `combobox` role for an input without a list.
  ['.code-input-lite__editor[role="combobox"]', 'textbox'],
];
const scrollable = 'ul.endpoints, .cm-scroller, pre, .custom-scroll';
/** Labels of sign-in settings that are hidden, because the page already fills them in. */
const signInSettings = new Set([
  'Metadata URL',
  'Auth URL',
  'Token URL',
  'Redirect URL',
  'Refresh URL',
  'Client ID',
  'Client Secret',
  'Use PKCE',
  'Credentials Location',
]);

const setAttribute = (element, name, value) => element.getAttribute(name) === value || element.setAttribute(name, value);

/** Makes the page inert while the request form covers it. A closed request form stays in the document. */
function updateInert() {
  const page = document.querySelector('.references-rendered');
  if (page) page.inert = document.querySelector('.scalar-client--open') !== null;
}

function fixAccessibility() {
  for (const [selector, role] of roles) for (const element of document.querySelectorAll(selector)) setAttribute(element, 'role', role);
  for (const label of document.querySelectorAll('td label')) {
    const cell = label.closest('td');
    if (signInSettings.has(label.textContent.trim())) setAttribute(cell, 'data-hidden', '');
    const editor = cell.querySelector('.code-input-lite__editor');
    if (editor) setAttribute(editor, 'aria-label', label.textContent.trim());
  }
  // The page receives no refresh token, so the refresh button is hidden.
  for (const button of document.querySelectorAll('.scalar-data-table button'))
    if (button.textContent.trim() === 'Refresh') setAttribute(button, 'data-hidden', '');
  for (const [selector, name] of names)
    for (const element of document.querySelectorAll(`${selector}:not([aria-labelledby])`))
      if (!element.ariaLabel || element.matches('section')) setAttribute(element, 'aria-label', name);
  // The accessible name must start with the visible text.
  for (const button of document.querySelectorAll('button.show-more')) {
    const visible = button.textContent.trim();
    if (!button.ariaLabel?.startsWith(visible)) setAttribute(button, 'aria-label', `${visible}: ${button.ariaLabel ?? ''}`);
  }
  for (const button of document.querySelectorAll('button[id*="headlessui-disclosure-button"]'))
    if (!button.textContent.trim()) setAttribute(button, 'aria-label', 'Show or hide');
  for (const guard of document.querySelectorAll('[data-headlessui-focus-guard]')) guard.removeAttribute('aria-hidden');
  for (const input of document.querySelectorAll('[role="combobox"]')) setAttribute(input, 'aria-expanded', 'true');
  for (const list of document.querySelectorAll('ul[id^="scalar-combobox-items"]')) {
    setAttribute(list.parentElement, 'role', 'dialog');
    setAttribute(list.parentElement, 'aria-label', 'Choices');
  }
  // Scalar refers to elements that do not exist yet.
  for (const attribute of ['aria-describedby', 'aria-controls'])
    for (const element of document.querySelectorAll(`[${attribute}]:not([aria-expanded])`))
      if (!document.querySelector(`#${CSS.escape(element.getAttribute(attribute))}`)) element.removeAttribute(attribute);
  for (const button of document.querySelectorAll('button[role="none"]')) button.removeAttribute('role');
  updateInert();
  for (const element of document.querySelectorAll(scrollable)) if (element.tabIndex < 0) element.tabIndex = 0;
}

let isScheduled = false;
new MutationObserver(() => {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    fixAccessibility();
  });
}).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ['aria-controls', 'aria-describedby'] });
// When Scalar opens or closes the request form, it changes the class of the form.
new MutationObserver(updateInert).observe(document.documentElement, { subtree: true, attributeFilter: ['class'] });
