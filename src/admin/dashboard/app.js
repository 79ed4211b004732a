import { attachAct, openAct } from './act.js';
import { chart, GROUPS } from './chart.js';
import { ask, Refused, token } from './client.js';
import { ageTimes, byId, bytes, draw, el, number, say, table, time } from './dom.js';
import { commandLine, recordCard, recordLine } from './record.js';

const EVERY = 5_000;
const HEALTH = { ok: 'Working', degraded: 'Works, but endangered', down: 'Ledger out of reach' };
const ANSWERS = {
  first: 'first copy, delivered', redelivery: 'redelivered, marked', late: 'late, delivered, marked', resend: 'resent under a new id, delivered, marked',
  forwarded: 'forwarded unclaimed', replay: 'copy, stored answer', waited: 'copy, waited for the answer', busy: 'in progress, come again',
  held: 'held, come again', refused: 'refused', mismatch: 'same id, other content', unavailable: 'ledger out of reach', failed: 'fault', passed: 'passed untouched',
};
const GROUP_NAMES = Object.fromEntries(GROUPS.map(([group, name]) => [group, name]));

let rights = { read: false, write: false };
let refreshing;

/** One look at everything; a second call meanwhile waits for the same look. */
function refresh() {
  refreshing ??= look().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function look() {
  try {
    const health = await ask('/health');
    rights = health.can;
    drawHealth(health);
    drawSession(health);
    drawRates(await ask('/rates'));
    if (rights.read) await lookClosely();
    ageTimes();
    byId('trouble').hidden = true;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      token.forget();
      // the token was changed under us: what was drawn for an operator goes with the page
      if (rights.read) location.reload();
      say(byId('sign-in-error'), 'This is not the token.');
      rights = { read: false, write: false };
      drawSession({ can: { ...rights, signIn: 'token' } });
      return;
    }
    byId('trouble').hidden = false;
    say(byId('trouble'), error instanceof Refused ? error.message : 'as4-once does not answer. What you see is as old as it says below.');
    if (!(error instanceof Refused)) {
      byId('health').className = 'pill down';
      say(byId('health'), 'No answer');
    }
  }
}

const NONE = { records: [], more: false };
let waited = 0;

async function lookClosely() {
  const [status, storms, partners] = await Promise.all(['/status', '/storms', '/partners'].map((path) => ask(path)));
  // the lists are asked for only while there is, or was a moment ago, something in them
  const { held: holding = 0, uncertain: doubting = 0 } = status.ledger ?? {};
  const some = holding + doubting > 0 || waited > 0;
  const [held, uncertain] = some ? await Promise.all(['held', 'uncertain'].map((what) => ask(`/list?what=${what}`))) : [NONE, NONE];
  waited = held.records.length + uncertain.records.length;
  drawWaiting(held, uncertain);
  drawStorms(storms);
  drawPartners(partners);
  drawNode(status);
}

function drawHealth({ status, ledger, warnings, shuttingDown }) {
  byId('health').className = `pill ${status}`;
  say(byId('health'), shuttingDown ? 'Shutting down' : HEALTH[status]);
  const dangers = [...(ledger.up ? [] : [{ code: 'LEDGER_DOWN', text: ledger.reason ?? 'the ledger cannot be reached' }]), ...warnings];
  byId('warnings-section').hidden = dangers.length === 0;
  draw(byId('warnings'), [dangers, rights.write], ([all]) => all.map(({ code, text }) => el('div', { class: 'card warning' },
    el('p', {}, el('strong', {}, code), ' ', text), rights.write ? wayOutOf(code) : undefined)));
}

/** A danger that an operator ends by saying so. */
function wayOutOf(code) {
  const ways = {
    LEDGER_BEHIND: ['accept', 'Accept …', 'You have imported what the ledger forgot, or know that nothing was lost.'],
    BYPASS: ['unbypass', 'End the bypass …', 'The ledger works again.'],
  };
  const [name, label, when] = ways[code] ?? [];
  return name === undefined ? undefined : el('p', { class: 'command' }, el('button', { class: 'small', 'data-focus': `way ${code}`, onclick: () => act(name, undefined, when) }, label));
}

function drawSession({ can }) {
  for (const section of document.querySelectorAll('section.operators')) section.hidden = !can.read;
  byId('sign-in').hidden = can.read || can.signIn !== 'token';
  byId('signed-in').hidden = !can.read;
  byId('sign-out').hidden = token.get() === null;
  say(byId('signed-in-as'), can.name === undefined ? 'Signed in' : `Signed in as ${can.name}`);
  byId('invitation').hidden = can.read;
  say(byId('invitation'), {
    token: 'Sign in with the token of admin.token to see messages, partners, storms and the ledger.',
    certificate: 'Come with a client certificate that admin.tls trusts to see messages, partners, storms and the ledger.',
    none: 'Messages and partners are shown to operators only, and this as4-once knows none: give admin.tokenFile in its configuration.',
  }[can.signIn]);
}

function drawRates({ asOf, answers, minutes, uptimeSeconds }) {
  byId('as-of').replaceChildren('As of ', time(asOf), '.');
  const sum = (group) => answers.filter((line) => line.group === group).reduce((all, { lastHour }) => all + lastHour, 0);
  const [delivered, repeated, failed] = ['delivered', 'repeated', 'failed'].map(sum);
  const all = answers.reduce((count, { lastHour }) => count + lastHour, 0);
  say(byId('rates-sentence'), all === 0
    ? `Nothing came${uptimeSeconds < 3_600 ? ' since the start' : ''}.`
    : `${number(delivered)} delivered, ${number(repeated)} ${repeated === 1 ? 'copy' : 'copies'} answered again with the stored answer${failed === 0 ? '' : `, ${number(failed)} failed`}.`);
  draw(byId('chart'), minutes, chart);
  draw(byId('rates'), answers, (lines) => lines.length === 0 ? el('p', { class: 'card quiet' }, 'No exchange yet.') : table(
    'How this process answered', [['Answer'], ['Kind'], ['1 min', 'number'], ['5 min', 'number'], ['1 hour', 'number'], ['since start', 'number']],
    lines.map(({ answer, group, total, lastMinute, last5Minutes, lastHour }) => el('tr', {},
      el('th', { scope: 'row' }, el('span', { class: `swatch ${group}` }), ANSWERS[answer] ?? answer), el('td', { class: 'quiet' }, GROUP_NAMES[group] ?? group),
      ...[lastMinute, last5Minutes, lastHour, total].map((count) => el('td', { class: 'number' }, number(count)))))));
}

function drawWaiting(held, uncertain) {
  const some = ({ records, more }) => `${number(records.length)}${more ? ' or more' : ''}`;
  const all = held.records.length + uncertain.records.length;
  say(byId('waiting-count'), all === 0 ? '' : `${some(held)} held, ${some(uncertain)} uncertain`);
  draw(byId('waiting'), [held.records, uncertain.records], ([first, second]) => all === 0
    ? el('p', { class: 'card quiet' }, 'Nothing. No message is held, and none ended uncertain.')
    : [...first.map((record) => recordLine(record, 'held', act)), ...second.map((record) => recordLine(record, 'uncertain', act))]);
}

function drawStorms({ storms }) {
  say(byId('storms-count'), storms.length === 0 ? '' : number(storms.length));
  draw(byId('storms'), storms, (all) => all.length === 0
    ? el('p', { class: 'card quiet' }, 'None. No sender repeats a message that was answered.')
    : all.map((storm) => el('article', { class: 'card', 'aria-label': `Storm of ${storm.messageId}` },
      el('h3', { class: 'id' }, storm.messageId, ' ', el('span', { class: 'tag storm' }, `${number(storm.copies)} copies`)),
      el('p', { class: 'quiet' }, `from ${storm.from ?? 'nobody named'}${storm.partner === undefined ? '' : ` (${storm.partner})`}, last `, time(storm.last, true)),
      el('p', {}, storm.diagnosis),
      commandLine(storm.command, `storm ${storm.key}`))));
}

function drawPartners({ partners }) {
  draw(byId('partners'), partners, (lines) => lines.length === 0 ? el('p', { class: 'card quiet' }, 'No partner has sent anything yet.') : table(
    'Since this process started', [['Partner'], ...GROUPS.map(([, name]) => [name, 'number']), ['all', 'number'], ['last seen']],
    lines.map(({ partner, groups, total, lastSeen }) => el('tr', {},
      el('th', { scope: 'row' }, partner ?? el('span', { class: 'quiet' }, 'everybody else')),
      ...GROUPS.map(([group]) => el('td', { class: 'number' }, number(groups[group]))),
      el('td', { class: 'number' }, number(total)), el('td', {}, time(lastSeen, true))))));
}

function drawNode(status) {
  say(byId('node'), `${status.role} ${status.node}, version ${status.version}`);
  const { asOf: _, uptimeSeconds: __, ...shown } = status;
  draw(byId('ledger'), shown, ({ ledger, routes, certificates, ...node }) => el('div', { class: 'two' },
    el('div', { class: 'card' }, el('h3', {}, 'Ledger'), facts(ledger === undefined ? [['State', 'out of reach']] : [
      ['Records', number(ledger.records)],
      ['Size', ledger.maxBytes === undefined ? bytes(ledger.bytes) : `${bytes(ledger.bytes)} of ${bytes(ledger.maxBytes)}`],
      ['Held', number(ledger.held)], ['Uncertain', number(ledger.uncertain)], ['In flight', number(ledger.inFlight)],
      ['Settles ever', number(ledger.settles)],
      ['Identity', ledger.id],
    ])),
    el('div', { class: 'card' }, el('h3', {}, 'This process'), facts([
      ['Attempts in progress', number(node.underWay)], ['Copies waiting', number(node.waiting)],
      ['Bodies kept', `${bytes(node.spool.memoryBytes)} in memory, ${bytes(node.spool.diskBytes)} on disk`],
      ['Journal', node.journal === 0 ? 'empty' : `${number(node.journal)} to settle`],
      ['Configuration', `digest ${node.configDigest.slice(0, 12)}`],
      ...routes.map((route) => [`Route ${route.path}`, `${route.protocol}, ${route.mode}, ${number(route.window / 86_400_000)} days, ${number(route.partners)} partners`]),
      ...certificates.map((own) => [`Certificate ${own.use}`, `${own.subject}, until ${own.notAfter.slice(0, 10)}`]),
    ]))));
}

function facts(lines) {
  return el('dl', { class: 'facts' }, ...lines.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

const act = (name, record, when) => openAct(name, record, when, rights.name, async (sentence) => {
  say(byId('said'), sentence);
  await refresh();
  if (byId('find-id').value !== '') await find(byId('find-id').value);
});

/** A key has 64 hex digits before its colon; anything else is an id. */
async function find(text) {
  const which = /^[0-9a-f]{64}:/.test(text) ? 'key' : 'id';
  try {
    const { records } = await ask(`/records?${which}=${encodeURIComponent(text)}`);
    say(byId('found-sentence'), records.length === 0 ? `No record of ${text}.` : records.length === 1 ? 'One record.' : `${records.length} records: the same id from several senders, or in several scopes.`);
    draw(byId('found'), records, (all) => all.map((record) => recordCard(record, act)));
  } catch (error) {
    say(byId('found-sentence'), error.message);
    draw(byId('found'), [], () => []);
  }
}

byId('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = byId('find-id').value;
  history.replaceState(null, '', `#find=${encodeURIComponent(text)}`);
  void find(text);
});

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  say(byId('sign-in-error'), '');
  token.set(byId('token').value);
  byId('token').value = '';
  void signedIn();
});

async function signedIn() {
  await refreshing; // asked without the token
  await refresh();
  if (rights.read) byId('main').focus({ preventScroll: true });
  await findFromAddress();
}

byId('sign-out').addEventListener('click', () => {
  token.forget();
  // everything that was drawn for an operator goes with the page
  location.replace(location.pathname);
});

async function findFromAddress() {
  const wanted = /^#find=(.+)$/.exec(location.hash)?.[1];
  if (wanted === undefined || !rights.read) return;
  byId('find-id').value = decodeURIComponent(wanted);
  await find(byId('find-id').value);
}

attachAct();
await refresh();
await findFromAddress();
document.documentElement.dataset.ready = 'true';
setInterval(() => {
  if (!document.hidden) void refresh();
}, EVERY);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh();
});
