import { el, number, svg } from './dom.js';

export const GROUPS = [
  ['delivered', 'delivered', 'handed on to the access point'],
  ['repeated', 'answered again', 'a copy that got the stored answer'],
  ['later', 'told to come again', 'in progress, or waits for an operator'],
  ['refused', 'refused', 'unreadable, not allowed, or a reused id'],
  ['failed', 'failed', 'the ledger or the access point was out of reach'],
  ['passed', 'passed', 'signals and other requests, untouched'],
];

const WIDTH = 720;
const HEIGHT = 130;
const BASE = 112;

/** The last hour as sixty stacked bars. The table beside it says the same in numbers, so the drawing is one image. */
export function chart(minutes) {
  const total = (minute) => GROUPS.reduce((sum, [group]) => sum + minute[group], 0);
  const most = Math.max(...minutes.map(total));
  const top = niceTop(most);
  const step = WIDTH / minutes.length;
  const bars = minutes.flatMap((minute, i) => {
    let y = BASE;
    return GROUPS.flatMap(([group]) => {
      const height = (minute[group] / top) * (BASE - 12);
      if (height === 0) return [];
      y -= height;
      return [svg('rect', { class: group, x: (i * step + 1).toFixed(1), y: y.toFixed(1), width: (step - 2).toFixed(1), height: height.toFixed(1) })];
    });
  });
  const label = (x, y, text, anchor) => svg('text', { x, y, 'text-anchor': anchor }, text);
  const sums = GROUPS.map(([group, name]) => [group, name, minutes.reduce((sum, minute) => sum + minute[group], 0)]).filter(([, , sum]) => sum > 0);
  const spoken = sums.map(([, name, sum]) => `${number(sum)} ${name}`).join(', ') || 'nothing';
  return [
    svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `Exchanges of the last hour by minute: ${spoken}` },
      svg('line', { class: 'axis', x1: 0, x2: WIDTH, y1: BASE + .5, y2: BASE + .5 }),
      ...(most === 0 ? [] : [svg('line', { class: 'axis', x1: 0, x2: WIDTH, y1: 12, y2: 12, 'stroke-dasharray': '3 4' }), label(0, 9, `${number(top)} a minute`, 'start')]),
      ...bars,
      label(0, HEIGHT - 3, '60 minutes ago', 'start'), label(WIDTH, HEIGHT - 3, 'now', 'end')),
    el('ul', { class: 'legend' }, ...sums.map(([group, name, sum]) => el('li', {}, el('span', { class: `swatch ${group}` }), `${name} ${number(sum)}`))),
  ];
}

/** The next round number. */
function niceTop(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((candidate) => candidate >= most);
}
