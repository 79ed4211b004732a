// Everything on the page is made here, from elements and text: nothing is ever read as HTML, so no text that a sender
// wrote can be more than text.

/**
 * @param {string} name @param {Record<string, unknown>} [attributes] `on…` are listeners, `false` and undefined are left out
 * @param {...(Node | string | undefined)} children
 */
export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Sets a text only where it is another one, so that a screen reader is not told the same again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const drawn = new WeakMap();

/**
 * Draws `data` into `container` with `make`, but only when the data changed; open details stay open and the focus stays
 * where it was (elements that may have it carry data-focus).
 */
export function draw(container, data, make) {
  const text = JSON.stringify(data);
  if (drawn.get(container) === text) return;
  drawn.set(container, text);
  const open = new Set([...container.querySelectorAll('details[open]')].map((details) => details.dataset.key));
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  container.replaceChildren(...[make(data)].flat());
  for (const details of container.querySelectorAll('details')) details.open = open.has(details.dataset.key) || details.open;
  if (focused !== undefined) [...container.querySelectorAll('[data-focus]')].find((one) => one.dataset.focus === focused)?.focus();
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** A moment as people say it, with the exact one behind it. */
export function time(iso, relative = false) {
  return el('time', { datetime: iso, title: iso, 'data-relative': relative }, relative ? ago(iso) : TIME.format(new Date(iso)));
}

/** What was a minute ago is two minutes ago by now, although nothing else changed. */
export function ageTimes() {
  for (const one of document.querySelectorAll('time[data-relative]')) say(one, ago(one.dateTime));
}

function ago(iso) {
  const seconds = (new Date(iso) - Date.now()) / 1000;
  for (const [unit, length] of [['day', 86_400], ['hour', 3_600], ['minute', 60]]) {
    if (Math.abs(seconds) >= length) return AGO.format(Math.round(seconds / length), unit);
  }
  return 'just now';
}

export const number = (value) => value.toLocaleString('en');

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  return `${(value / 1024 ** step).toLocaleString('en', { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}

export function table(caption, heads, rows) {
  return el('table', {},
    el('caption', {}, caption),
    el('thead', {}, el('tr', {}, ...heads.map(([text, kind]) => el('th', { scope: 'col', class: kind }, text)))),
    el('tbody', {}, ...rows));
}
