// The History view: one strip an agent, all on one axis of weeks, the newest at the right edge.
import { h, svg, put, no, narrow } from './dom.js';
import { get } from './api.js';
import { num, many } from './words.js';

const dayMS = 86400e3;
const parse = d => Date.parse(d + 'T00:00:00Z'); // days are counted, not hours: UTC has no gaps
const utc = o => new Intl.DateTimeFormat('en-GB', { ...o, timeZone: 'UTC' });
const monthName = utc({ month: 'short', year: 'numeric' }), monthLong = utc({ month: 'long', year: 'numeric' }), monthOnly = utc({ month: 'short' }), dayName = utc({ weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' });
const level = n => n === 0 ? 0 : n < 6 ? 1 : n < 12 ? 2 : n < 24 ? 3 : 4;
const week = at => Math.floor((at / dayMS + 3) / 7); // weeks begin on Monday; 1 January 1970 was a Thursday

let data = null, year = '', turnsOf = 0, shownFor = '';

const sum = h('span', { class: 'two' }), zone = h('span', { class: 'three small' }), under = h('output', { class: 'small two', 'aria-hidden': 'true' });
const years = h('div', { class: 'seg push', role: 'group', 'aria-label': 'Until', hidden: true });
const heat = h('div', { class: 'pad heat' }), months = h('details', { class: 'months' }, h('summary', null, 'Month by month')), tiles = h('div', { class: 'tiles' }), panel = h('section', { class: 'panel' },
  h('header', null, h('h2', null, 'Turns a day'), zone, under, h('span', { class: 'legend push', 'aria-label': 'Five steps: none, 1, 6, 12 and 24 or more turns' }, '0 ', [0, 1, 2, 3, 4].map(i => h('i', { class: 'h' + i })), ' 24+')), heat, months);
const body = h('div', { class: 'stack' }, panel, tiles), empty = h('section', { class: 'panel void', hidden: true });

export const historyView = h('section', { 'aria-label': 'History' }, h('div', { class: 'pagehead' }, h('h1', null, 'History'), sum, years), body, empty);

/** historyShow reads the figures when they are older than the revision, and draws. */
export async function historyShow(live) {
  turnsOf = live.counts.visible;
  const key = live.run + live.revision;
  if (data && key === shownFor) { draw(); return; }
  try {
    data = await get('/api/heatmap');
  } catch (f) {
    if (!data) { empty.hidden = false; body.hidden = true; empty.replaceChildren(no(f.sentence || f.message)); }
    return;
  }
  shownFor = key;
  draw();
}

/** roomFor is the width that is left for a strip beside its name. */
const roomFor = () => Math.max(200, heat.clientWidth - (narrow() ? 24 : 40 + 6 * parseFloat(getComputedStyle(document.documentElement).fontSize)));

function draw() {
  const strips = data.agents;
  empty.hidden = strips.length > 0;
  body.hidden = !strips.length;
  if (!strips.length) {
    put(sum, '');
    empty.replaceChildren(h('h2', null, 'No turns yet'), h('p', { class: 'two' }, 'A turn is one prompt you typed. They are read from the transcripts of your agents, also of times before Tower was here.'));
    return;
  }
  const total = strips.reduce((n, s) => n + s.total, 0), first = Math.min(...strips.map(s => parse(s.first))), last = parse(data.today);
  put(sum, `${many(total, 'turn')} in ${many(turnsOf, 'session')} since ${monthLong.format(first)}`);
  put(zone, 'one prompt you typed, days cut in ' + (data.timezone || 'this machine’s zone'));
  pick(first, last);
  const end = year ? Math.min(last, Date.UTC(+year, 11, 31)) : last, w0 = week(first), w1 = week(end), weeks = w1 - w0 + 1;
  const room = roomFor();
  const cell = narrow() ? 8 : Math.max(6, Math.min(8, Math.floor(room / weeks)));
  const show = Math.min(weeks, Math.floor(room / cell)), from = w1 - show + 1; // what does not fit is cut at the left, by whole weeks
  heat.replaceChildren(h('span', { class: 'who axis' }), h('div', { class: 'clip' }, axis(from, show, cell)), ...strips.flatMap(s => [
    h('div', { class: 'who' }, h('b', { class: 'small' }, s.display), h('div', { class: 'three small' }, many(s.total, 'turn'))),
    h('div', { class: 'clip' }, strip(s, from, show, cell, end)),
  ]));
  table(strips);
  figures(strips, last);
}

function axis(from, show, cell) {
  const g = svg('svg', { width: show * cell, height: 14, 'aria-hidden': 'true' });
  const every = show > 80 ? 6 : show > 30 ? 3 : 1;
  let free = -1;
  for (let w = from; w < from + show; w++) {
    const monday = new Date((w * 7 - 3) * dayMS), sunday = new Date(monday.getTime() + 6 * dayMS);
    if (sunday.getUTCDate() > 7 || sunday.getUTCMonth() % every) continue; // the week that holds the first of a month
    const x = (w - from) * cell, text = sunday.getUTCMonth() === 0 || free < 0 ? monthName.format(sunday) : monthOnly.format(sunday), width = text.length * 6.2;
    if (x < free) continue;
    const right = x + width > show * cell;
    if (right && show * cell - width < free) continue;
    g.append(svg('text', { x: right ? show * cell : x, y: 11, 'text-anchor': right ? 'end' : 'start' }, text));
    free = x + width + 10;
  }
  return g;
}

function strip(s, from, show, cell, end) {
  const start = parse(s.first), paths = ['', '', '', '', ''];
  for (let i = 0; i < s.turns.length; i++) {
    const at = start + i * dayMS, w = week(at) - from;
    if (w < 0 || at > end) continue;
    const d = ((at / dayMS + 3) % 7 + 7) % 7;
    paths[level(s.turns[i])] += `M${w * cell} ${d * cell}h${cell - 1}v${cell - 1}h${1 - cell}z`;
  }
  const g = svg('svg', { width: show * cell, height: 7 * cell - 1, role: 'img', 'aria-label': `${s.display}: ${many(s.total, 'turn')} since ${monthLong.format(start)}` });
  const x = (week(start) - from) * cell - 8, said = 'first seen ' + monthName.format(start);
  if (x > said.length * 6.2) g.append(svg('text', { x, y: 3.5 * cell + 4, 'text-anchor': 'end' }, said));
  paths.forEach((p, i) => { if (p) g.append(svg('path', { d: p, class: 'h' + i })); });
  g.addEventListener('pointermove', e => {
    const box = g.getBoundingClientRect(), at = ((Math.floor((e.clientX - box.left) / cell) + from) * 7 - 3 + Math.min(6, Math.max(0, Math.floor((e.clientY - box.top) / cell)))) * dayMS, n = s.turns[Math.round((at - start) / dayMS)];
    put(under, at > end ? '' : dayName.format(at) + ': ' + (n == null ? 'before its first day' : many(n, 'turn')) + ', ' + s.display);
  });
  g.addEventListener('pointerleave', () => put(under, ''));
  return g;
}

/** pick offers the years when they do not fit side by side. */
function pick(first, last) {
  const a = new Date(first).getUTCFullYear(), b = new Date(last).getUTCFullYear(), room = Math.floor(roomFor() / (narrow() ? 8 : 6));
  years.hidden = a === b || week(last) - week(first) < room;
  if (years.hidden) { year = ''; return; }
  const names = ['', ...Array.from({ length: b - a }, (_, i) => String(b - 1 - i))];
  years.replaceChildren(...names.map(y => h('button', { type: 'button', 'aria-pressed': String(y === year), onclick: () => { year = y; draw(); } }, y || 'Latest')));
}

function table(strips) {
  const by = new Map();
  strips.forEach((s, k) => s.turns.forEach((n, i) => {
    const m = new Date(parse(s.first) + i * dayMS).toISOString().slice(0, 7);
    if (!by.has(m)) by.set(m, strips.map(() => null));
    by.get(m)[k] = (by.get(m)[k] || 0) + n;
  }));
  months.replaceChildren(months.firstChild, h('div', { class: 'scroll' }, h('table', null, h('thead', null, h('tr', null, h('th', null, 'Month'), strips.map(s => h('th', { class: 'num' }, s.display)))),
    h('tbody', null, [...by].sort().reverse().map(([m, ns]) => h('tr', null, h('td', null, monthLong.format(parse(m + '-01'))), ns.map(n => h('td', { class: 'num' }, n == null ? '–' : num(n)))))))));
}

function figures(strips, last) {
  const days = new Map();
  for (const s of strips) s.turns.forEach((n, i) => { const at = parse(s.first) + i * dayMS; days.set(at, (days.get(at) || 0) + n); });
  let best = 0, bestAt = last, inWeek = 0, inMonth = 0, active = 0;
  for (const [at, n] of days) {
    if (n > best) [best, bestAt] = [n, at];
    if (n) active++;
    if (week(at) === week(last)) inWeek += n;
    if (last - at < 30 * dayMS && at <= last) inMonth += n;
  }
  const tile = (name, big, small) => h('section', { class: 'panel tile' }, h('span', { class: 'label' }, name), h('span', { class: 'big' }, big), h('span', { class: 'three small' }, small));
  tiles.replaceChildren(tile('Busiest day', many(best, 'turn'), dayName.format(bestAt)), tile('This week', many(inWeek, 'turn'), 'since Monday'), tile('Last 30 days', many(inMonth, 'turn'), 'today included'), tile('Days with a turn', num(active), 'since ' + monthLong.format(Math.min(...days.keys()))));
}

let width = 0;
new ResizeObserver(e => { const w = Math.round(e[0].contentRect.width); if (w && w !== width) { width = w; if (data) draw(); } }).observe(panel);
