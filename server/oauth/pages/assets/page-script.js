// What pages can do besides when there is JavaScript: look at a password, send a code by itself, passkeys. Everything works without.

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
  // browsers keep what was typed into a field of text, and offer it to others
  field.form.addEventListener('submit', () => show(false));
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

const known = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** Asked as soon as the page is open, so that the browser can offer passkeys in the e-mail field; a press of the button ends it. */
let waiting = new AbortController();
let ended = Promise.resolve();

async function answerOf(form, mediation) {
  waiting.abort();
  waiting = new AbortController();
  await ended; // the browser takes one request at a time
  const options = JSON.parse(form.dataset.options);
  if (form.dataset.passkey === 'create') {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey, signal: waiting.signal, ...(mediation && { mediation }) });
}

async function send(form, mediation) {
  const asked = answerOf(form, mediation);
  ended = asked.then(
    () => undefined,
    () => undefined,
  );
  try {
    const credential = await asked;
    if (!credential) return;
    form.elements.passkey.value = JSON.stringify(credential.toJSON());
    form.submit();
  } catch (error) {
    // the person changed their mind, or the browser did: the page is as it was
    if (!(error instanceof DOMException)) throw error;
  }
}

for (const form of known ? document.querySelectorAll('form[data-passkey]') : []) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
  // not after a refusal, or a device that answers by itself would never stop
  if (form.dataset.passkey === 'get' && document.querySelector('[autocomplete~="webauthn"]') && !document.querySelector('.summary')) {
    void PublicKeyCredential.isConditionalMediationAvailable?.().then((can) => can && send(form, 'conditional'));
  }
}
