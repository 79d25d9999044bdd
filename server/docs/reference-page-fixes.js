// What the library leaves out for those who do not see the page, or do not use a mouse: names, levels of headings, a way to scroll.

const names = [
  ['.close-modal', 'Close'],
  ['.body-param__text', 'Request body'],
  ['.opblock-body select:not([aria-label], [id])', 'Choice'],
  ['.copy-to-clipboard button:not([aria-label])', 'Copy'],
  ['.download-contents', 'Download the answer'],
  ['.json-schema-2020-12-accordion:not(:has(.json-schema-2020-12-accordion__children))', 'Show or hide'],
];
const levels = [
  ['.opblock-tag', 2],
  ['.models > h4, .models h4', 2],
  ['.opblock-body h4, .opblock-body h5', 3],
  ['.modal-ux-header h3', 2],
  ['.modal-ux-content h4', 3],
  ['.modal-ux-content h2', 4],
  ['.modal-ux-content h6', 4],
];
/** What scrolls can be scrolled by keyboard. */
const scrolling = '.microlight, .curl, .example pre, .opblock-body pre, .json-schema-2020-12-body, .table-container, .responses-inner';

const set = (element, name, value) => element.getAttribute(name) === String(value) || element.setAttribute(name, value);

function repair() {
  const about = document.querySelector('.information-container');
  if (about) {
    set(about, 'role', 'region');
    set(about, 'aria-label', 'About this API');
  }
  for (const [selector, name] of names) for (const element of document.querySelectorAll(selector)) set(element, 'aria-label', name);
  for (const [selector, level] of levels) {
    for (const element of document.querySelectorAll(selector)) {
      set(element, 'role', 'heading');
      set(element, 'aria-level', level);
    }
  }
  for (const input of document.querySelectorAll('.parameters input, .parameters select, .parameters textarea')) {
    const parameter = input.closest('tr')?.dataset.paramName;
    if (parameter) set(input, 'aria-label', parameter);
  }
  for (const element of document.querySelectorAll(scrolling)) if (element.tabIndex < 0) element.tabIndex = 0;
  // a table is a table
  for (const table of document.querySelectorAll('table[role]')) table.removeAttribute('role');
  // a link inside a button cannot be reached; the button opens what the link leads to
  for (const link of document.querySelectorAll('.opblock-summary-control a[href]')) {
    link.removeAttribute('href');
    link.removeAttribute('tabindex');
  }
  // text that can be read needs no other name
  for (const button of document.querySelectorAll('.auth-btn-wrapper button[aria-label]')) button.removeAttribute('aria-label');
  const dialog = document.querySelector('.modal-ux');
  if (dialog) {
    set(dialog, 'role', 'dialog');
    set(dialog, 'aria-modal', 'true');
    set(dialog, 'aria-label', 'Sign in');
  }
  for (const link of document.querySelectorAll('.scopes h2 a:not([role])')) {
    set(link, 'role', 'button');
    link.tabIndex = 0;
  }
}

let due = false;
new MutationObserver(() => {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    repair();
  });
}).observe(document.documentElement, { childList: true, subtree: true });

// what looks like a button and is a link is pressed by the keys of a button
document.addEventListener('keydown', (event) => {
  if (event.target.matches('.scopes h2 a') && (event.key === 'Enter' || event.key === ' ')) {
    event.preventDefault();
    event.target.click();
  }
  if (event.key === 'Escape') document.querySelector('.close-modal')?.click();
});
