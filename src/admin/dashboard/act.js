import { ask } from './client.js';
import { byId, say } from './dom.js';

const WORDS = {
  settle: { title: 'Settle this message', button: 'Settle', done: 'Settled. Later copies get this Receipt.' },
  release: { title: 'Release this message', button: 'Release', done: 'Released. The next copy is delivered once, marked.' },
  accept: { title: 'Accept the ledger as it is', button: 'Accept', done: 'Accepted. Every node follows within seconds.', path: '/ledger/accept' },
  unbypass: { title: 'End the bypass', button: 'End it', done: 'The bypass is over on this machine.', path: '/bypass', more: { on: false } },
};
const KEPT = 'as4-once who';

let current;
let finished = () => undefined;

/** Asks for what an act needs, and does it; `record` where it is about one. `done` is called with a sentence when it is done. */
export function openAct(name, record, when, certifiedName, done) {
  current = { name, record, certifiedName };
  finished = done;
  const words = WORDS[name];
  say(byId('act-title'), words.title);
  say(byId('act-what'), record?.messageId ?? '');
  say(byId('act-when'), `This is right if: ${when.charAt(0).toLowerCase()}${when.slice(1)}`);
  say(byId('act-do'), words.button);
  say(byId('act-error'), '');
  byId('act-receipt-field').hidden = name !== 'settle';
  byId('act-force').parentElement.hidden = record === undefined;
  byId('act-who-field').hidden = certifiedName !== undefined;
  byId('act-who').value = sessionStorage.getItem(KEPT) ?? '';
  byId('act-reason').value = '';
  byId('act-receipt').value = '';
  byId('act-force').checked = false;
  byId('act').showModal();
}

export function attachAct() {
  byId('act-cancel').addEventListener('click', () => byId('act').close());
  byId('act-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void perform();
  });
}

async function perform() {
  const { name, record, certifiedName } = current;
  const [who, reason, [file]] = [byId('act-who').value.trim(), byId('act-reason').value.trim(), byId('act-receipt').files];
  const missing = name === 'settle' && file === undefined ? ['act-receipt', 'Choose the file that holds the Receipt.']
    : certifiedName === undefined && who === '' ? ['act-who', 'Say who you are.']
    : reason === '' ? ['act-reason', 'Give a reason.'] : undefined;
  if (missing !== undefined) {
    const [field, sentence] = missing;
    say(byId('act-error'), sentence);
    byId(field).focus();
    return;
  }
  byId('act-do').disabled = true;
  try {
    sessionStorage.setItem(KEPT, who);
    const { path = `/${name}`, more = { key: record?.key } } = WORDS[name];
    await ask(path, {
      ...more, reason,
      ...(certifiedName === undefined ? { who } : {}),
      ...(byId('act-force').checked ? { force: true } : {}),
      ...(name === 'settle' ? { receipt: base64(new Uint8Array(await file.arrayBuffer())) } : {}),
    });
    byId('act').close();
    finished(`${WORDS[name].done}${record === undefined ? '' : ` (${record.messageId})`}`);
  } catch (error) {
    say(byId('act-error'), error.message);
  } finally {
    byId('act-do').disabled = false;
  }
}

function base64(octets) {
  let text = '';
  for (let at = 0; at < octets.length; at += 0x8000) text += String.fromCharCode(...octets.subarray(at, at + 0x8000));
  return btoa(text);
}
