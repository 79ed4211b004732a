import { bytes, el, number, time } from './dom.js';

/** One message in a line that opens into all that is known of it. */
export function recordLine(record, tag, act) {
  return el('details', { class: 'card', 'data-key': record.key },
    el('summary', { 'data-focus': `line ${record.key}` },
      el('span', { class: 'id' }, record.messageId),
      el('span', { class: `tag ${tag}` }, tag),
      el('span', { class: 'quiet' }, `from ${record.from.join(', ') || 'nobody named'}`),
      el('span', { class: 'quiet end' }, 'first seen ', time(record.firstSeen, true), record.copies > 0 ? `, ${number(record.copies)} ${record.copies === 1 ? 'copy' : 'copies'}` : '')),
    ...recordParts(record, act));
}

/** The same, open: what a search shows. */
export function recordCard(record, act) {
  return el('article', { class: 'card', 'aria-label': `Message ${record.messageId}` },
    el('h3', { class: 'id' }, record.messageId, ' ', el('span', { class: `tag ${record.state}` }, record.state)),
    ...recordParts(record, act));
}

function recordParts(record, act) {
  const { receipt } = record;
  const facts = [
    ['Means', record.means],
    ['From', record.from.join(', ')],
    ['To', record.to.join(', ')],
    ['C1, C4', record.c1 === undefined && record.c4 === undefined ? undefined : `${record.c1 ?? 'none'}, ${record.c4 ?? 'none'}`],
    ['Service', record.service],
    ['Action', record.action],
    ['Conversation', record.conversationId],
    ['Protocol', `${record.protocol}, scope ${record.scope}`],
    ['Rule', record.rule],
    ['Last attempt', record.lastReason],
    ['Receipt', receipt === undefined ? undefined : `${receipt.receiptId ?? 'without an id'}, ${bytes(receipt.bytes)}, SHA-256 ${receipt.sha256}`],
    ['Signer serial', receipt?.signerSerial],
    ['Key', record.key],
  ].filter(([, value]) => value !== undefined && value !== '');
  return [
    el('dl', { class: 'facts' },
      ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
      el('dt', {}, 'Window'), el('dd', {}, time(record.firstSeen), ' to ', time(record.windowEnds))),
    el('h3', {}, 'What happened'),
    el('ol', { class: 'timeline' }, ...record.timeline.map(({ at, what, text }) => el('li', { class: what }, time(at), text))),
    el('div', { class: 'ways' }, ...record.resolve.map((way) => wayOut(record, way, act))),
  ];
}

const NAMES = { settle: 'Settle …', release: 'Release …' };

function wayOut(record, { act: name, command, when }, act) {
  return el('div', { class: 'way' },
    el('p', { class: 'quiet' }, when),
    commandLine(command, `${name} ${record.key}`,
      name in NAMES && act !== undefined
        ? el('button', { class: 'small', 'data-focus': `act ${name} ${record.key}`, onclick: () => act(name, record, when) }, NAMES[name])
        : undefined));
}

/** A command with a button that copies it. */
export function commandLine(command, focus, more) {
  const copy = el('button', { class: 'small plain', 'data-focus': `copy ${focus}`, 'aria-label': `Copy the command: ${command}` }, 'Copy');
  const code = el('code', {}, command);
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = 'Copied';
    } catch {
      // over plain HTTP the clipboard is closed: mark the text, so that the keyboard can copy it
      getSelection().selectAllChildren(code);
      copy.textContent = 'Press Ctrl-C';
    }
  });
  return el('div', { class: 'command' }, code, copy, more);
}
