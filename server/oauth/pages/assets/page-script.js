// Optional enhancements: password visibility, copying and printing, automatic submission of complete codes, time zone detection, live
// regions, and passkeys. All pages work without this script.

for (const button of document.querySelectorAll('[data-reveal]')) {
  const field = document.getElementById(button.dataset.reveal);
  const show = (shown) => {
    if ((field.type === 'text') === shown) return;
    field.type = shown ? 'text' : 'password';
    const { other, otherLabel } = button.dataset;
    button.dataset.other = button.textContent.trim();
    button.dataset.otherLabel = button.getAttribute('aria-label');
    button.textContent = other;
    button.setAttribute('aria-label', otherLabel);
  };
  button.hidden = false;
  button.addEventListener('click', () => show(field.type === 'password'));
  // Browsers can save the values of text fields, and could then suggest the password to other users.
  field.form.addEventListener('submit', () => show(false));
}

for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  button.hidden = false;
  const label = button.textContent;
  const { copy, copied } = button.dataset;
  const showCopied = () => {
    button.textContent = copied;
    setTimeout(() => (button.textContent = label), 3000);
  };
  button.addEventListener('click', () => void navigator.clipboard.writeText(copy).then(showCopied));
}

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}

for (const field of document.querySelectorAll('[data-digits]')) {
  const { digits, note } = field.dataset;
  document.getElementById(`${field.name}-hint`)?.append(' ', note);
  let sent = false;
  field.addEventListener('input', () => {
    if (sent || !new RegExp(`^\\d{${digits}}$`).test(field.value.replaceAll(' ', ''))) return;
    sent = true;
    field.form.requestSubmit();
  });
}

for (const field of document.querySelectorAll('[data-time-zone]')) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone;

// The server formats times in this time zone. Without this script, times are in UTC.
const { timeZoneCookie } = document.querySelector('[data-time-zone-cookie]').dataset;
const cookieAttributes = `path=/; max-age=31536000; samesite=lax${timeZoneCookie.startsWith('__Host-') ? '; secure' : ''}`;
document.cookie = `${timeZoneCookie}=${Intl.DateTimeFormat().resolvedOptions().timeZone}; ${cookieAttributes}`;

const identifyTarget = (element) => element.getAttribute('href') ?? element.value;

/** Replaces the region, and keeps the focus on the same link or button. */
function replaceRegion(shown, current) {
  const focused = shown.contains(document.activeElement) ? document.activeElement : undefined;
  shown.replaceWith(current);
  if (!focused) return;
  const target = identifyTarget(focused);
  [...current.querySelectorAll(focused.localName)].find((element) => identifyTarget(element) === target)?.focus();
}

/** Resolves when the tab is visible. Browsers limit the number of connections to a server, so hidden tabs must not wait for changes. */
const waitUntilVisible = () =>
  new Promise((resolve) => {
    if (document.hidden) document.addEventListener('visibilitychange', resolve, { once: true });
    else resolve();
  });

/**
 * Replaces a region of the page whenever its content changes on the server. The server responds when there is a change, or after 25
 * seconds. The path in `data-live` identifies the content that the page currently shows.
 */
async function keepUpdated(region) {
  let shown = region;
  for (;;) {
    await waitUntilVisible();
    const response = await fetch(shown.dataset.live).catch(() => undefined);
    if (response?.redirected) return; // the user has signed out
    if (response?.ok) {
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const current = page.querySelector('[data-live]');
      if (!current) return;
      if (current.dataset.live !== shown.dataset.live) {
        replaceRegion(shown, current);
        shown = current;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, response?.ok ? 500 : 5000));
  }
}
for (const region of document.querySelectorAll('[data-live]')) void keepUpdated(region);

const supportsPasskeys = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

/**
 * Controls the pending passkey request. When the page opens, a request starts that offers passkeys in the e-mail field. Clicking the
 * passkey button aborts that request.
 */
let pendingRequest = new AbortController();
let previousRequest = Promise.resolve();

async function requestCredential(form, mediation) {
  pendingRequest.abort();
  pendingRequest = new AbortController();
  await previousRequest; // browsers allow only one request at a time
  const options = JSON.parse(form.dataset.options);
  if (form.dataset.passkey === 'create') {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey, signal: pendingRequest.signal, ...(mediation && { mediation }) });
}

async function send(form, mediation) {
  const credentialRequest = requestCredential(form, mediation);
  previousRequest = credentialRequest.then(
    () => undefined,
    () => undefined,
  );
  try {
    const credential = await credentialRequest;
    if (!credential) return;
    form.elements.passkey.value = JSON.stringify(credential.toJSON());
    form.submit();
  } catch (error) {
    // The user or the browser has canceled the request, so the page stays unchanged.
    if (!(error instanceof DOMException)) throw error;
  }
}

for (const form of supportsPasskeys ? document.querySelectorAll('form[data-passkey]') : []) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
  // The request does not start after a failed attempt, because an authenticator that responds automatically would cause an endless loop.
  if (form.dataset.passkey === 'get' && document.querySelector('[autocomplete~="webauthn"]') && !document.querySelector('.summary')) {
    void PublicKeyCredential.isConditionalMediationAvailable?.().then((can) => can && send(form, 'conditional'));
  }
}
