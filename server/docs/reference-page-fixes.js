// Fixes accessibility problems in Swagger UI: missing labels, wrong heading levels, and controls that do not work with the keyboard.

const labels = [
  ['.close-modal', 'Close'],
  ['.body-param__text', 'Request body'],
  ['.opblock-body select:not([aria-label], [id])', 'Choice'],
  ['.copy-to-clipboard button:not([aria-label])', 'Copy'],
  ['.download-contents', 'Download the response'],
  ['.json-schema-2020-12-accordion:not(:has(.json-schema-2020-12-accordion__children))', 'Show or hide'],
];
const headingLevels = [
  ['.opblock-tag', 2],
  ['.models > h4, .models h4', 2],
  ['.opblock-body h4, .opblock-body h5', 3],
  ['.modal-ux-header h3', 2],
  ['.modal-ux-content h4', 3],
  ['.modal-ux-content h2', 4],
  ['.modal-ux-content h6', 4],
];
/** Scrollable areas must be focusable, so that they can be scrolled with the keyboard. */
const scrollable = '.microlight, .curl, .example pre, .opblock-body pre, .json-schema-2020-12-body, .table-container, .responses-inner';

const setAttribute = (element, name, value) => element.getAttribute(name) === String(value) || element.setAttribute(name, value);

function fixAccessibility() {
  const description = document.querySelector('.information-container');
  if (description) {
    setAttribute(description, 'role', 'region');
    setAttribute(description, 'aria-label', 'About this API');
  }
  for (const [selector, name] of labels)
    for (const element of document.querySelectorAll(selector)) setAttribute(element, 'aria-label', name);
  for (const [selector, level] of headingLevels) {
    for (const element of document.querySelectorAll(selector)) {
      setAttribute(element, 'role', 'heading');
      setAttribute(element, 'aria-level', level);
    }
  }
  for (const input of document.querySelectorAll('.parameters input, .parameters select, .parameters textarea')) {
    const parameter = input.closest('tr')?.dataset.paramName;
    if (parameter) setAttribute(input, 'aria-label', parameter);
  }
  for (const element of document.querySelectorAll(scrollable)) if (element.tabIndex < 0) element.tabIndex = 0;
  // Swagger UI gives tables the wrong role
  for (const table of document.querySelectorAll('table[role]')) table.removeAttribute('role');
  // A link inside a button cannot be focused, and the button already opens its target.
  for (const link of document.querySelectorAll('.opblock-summary-control a[href]')) {
    link.removeAttribute('href');
    link.removeAttribute('tabindex');
  }
  // the visible text is the accessible name
  for (const button of document.querySelectorAll('.auth-btn-wrapper button[aria-label]')) button.removeAttribute('aria-label');
  const dialog = document.querySelector('.modal-ux');
  if (dialog) {
    setAttribute(dialog, 'role', 'dialog');
    setAttribute(dialog, 'aria-modal', 'true');
    setAttribute(dialog, 'aria-label', 'Sign in');
  }
  for (const link of document.querySelectorAll('.scopes h2 a:not([role])')) {
    setAttribute(link, 'role', 'button');
    link.tabIndex = 0;
  }
}

let isScheduled = false;
new MutationObserver(() => {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    fixAccessibility();
  });
}).observe(document.documentElement, { childList: true, subtree: true });

// These links look like buttons, so the same keys activate them.
document.addEventListener('keydown', (event) => {
  if (event.target.matches('.scopes h2 a') && (event.key === 'Enter' || event.key === ' ')) {
    event.preventDefault();
    event.target.click();
  }
  if (event.key === 'Escape') document.querySelector('.close-modal')?.click();
});
