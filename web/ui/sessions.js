// The Sessions view: groups, filters, the row that is open, and what is said when there is nothing.
import { h, icon, put, no } from './dom.js';
import { today, num, many, zoneName } from './words.js';
import { store, setAll } from './store.js';
import { makeList, counters } from './list.js';
import { makeRow } from './row.js';
import { makeOpen } from './open.js';
import { act, tell, onAnswer, answerOf } from './acts.js';
import { launchForm } from './forms.js';
import { makeLaunching } from './launching.js';

/** agents by name, as the tower last told them. */
export const agents = new Map();

const filter = { show: 'all', agent: '', text: '' };
let open = null, cursor = null, live = null, items = [];

const counts = h('span', { class: 'two', 'aria-live': 'off' });
const shows = [['all', 'All'], ['live', 'Live'], ['hidden', 'Hidden too']].map(([key, name]) => h('button', { type: 'button', 'aria-pressed': String(key === 'all'), onclick: () => show(key), 'data-show': key }, name));
const which = h('select', { class: 'field pick', 'aria-label': 'Agent', onchange: () => { filter.agent = which.value; relayout(true); } }, h('option', { value: '' }, 'Every agent'));
const notices = h('div', { class: 'notice', 'aria-live': 'polite' }), empty = h('section', { class: 'panel void', hidden: true }), foot = h('p', { class: 'foot' });
const spoken = h('div', { class: 'sr', 'aria-live': 'polite' });
const list = makeList(make);

// What forms and panels need to know of the rest.
const world = {
  agents, notice, reveal,
  home: id => { if (listed(id)) step(0, id); },
  launch: given => launchForm(world, given),
  title: id => { const r = store.byID.get(id); return r ? r.title || r.first_message : ''; },
  models: agent => [...new Set(store.rows.filter(r => r.agent === agent && r.model).map(r => r.model))].slice(0, 12),
};
const launching = makeLaunching(world);

/** launch opens the form for a new session. */
export const launch = () => world.launch();

export const sessionsView = h('section', { 'aria-label': 'Sessions' },
  h('div', { class: 'pagehead' }, h('h1', null, 'Sessions'), counts, h('div', { class: 'row wrap push' }, h('div', { class: 'seg', role: 'group', 'aria-label': 'Show' }, shows), which)),
  notices, launching.node, list.node, empty, foot, spoken);
list.node.hidden = true;

function show(key) {
  filter.show = key;
  for (const b of shows) b.setAttribute('aria-pressed', String(b.dataset.show === key));
  setAll(key === 'hidden' || store.all); // once known they stay known; the filter leaves them out
  relayout(true);
}

/** setText filters the loaded rows. */
export function setText(text) {
  filter.text = text.trim().toLowerCase();
  relayout(true);
}

function takes(r) {
  if (filter.show !== 'hidden' && r.hidden_why) return false;
  if (filter.show === 'live' && r.group === 'past') return false;
  if (filter.agent && r.agent !== filter.agent) return false;
  return !filter.text || r.hay.includes(filter.text);
}

function groupOf(r, t) {
  if (r.group === 'needs you') return 'Needs you';
  if (r.group === 'live') return 'Live';
  if (r.last_seen >= t.from) return 'Today';
  return r.last_seen >= t.yesterday ? 'Yesterday' : 'Earlier';
}

/** arrange lists what is to be seen, in order: groups, rows, and the panel of the open row. */
function arrange() {
  const out = [], t = today();
  let group = null;
  for (const r of store.rows) {
    if (!takes(r)) continue;
    const name = groupOf(r, t);
    if (!group || group.name !== name) out.push(group = { kind: 'group', key: 'g:' + name + (out.some(i => i.key === 'g:' + name) ? out.length : ''), name, count: 0 });
    group.count++;
    out.push({ kind: 'row', key: r.asm_id });
    if (r.asm_id === open) out.push({ kind: 'open', key: 'o:' + r.asm_id, id: r.asm_id });
  }
  return out;
}

function make(it) {
  if (it.kind === 'group') {
    const count = h('span', { class: 'three' }), node = h('div', { class: 'gp', role: 'row' }, h('div', { class: 'row', role: 'gridcell', 'aria-colspan': 9 }, it.name === 'Needs you' ? icon('waiting', 'dot waiting') : null, it.name, count));
    const m = { node, paint: g => { put(count, num(g.count)); } };
    m.paint(it);
    return m;
  }
  if (it.kind === 'open') {
    const m = makeOpen(store.byID.get(it.id), world);
    m.refresh(store.revision);
    return m;
  }
  const m = makeRow(it.key, agents, jump);
  m.paint(store.byID.get(it.key));
  m.node.setAttribute('aria-expanded', String(it.key === open));
  m.node.tabIndex = it.key === cursor ? 0 : -1;
  return m;
}

/** relayout compares the new order with the one shown and renders only when they differ. */
function relayout(force) {
  if (!store.loaded) return;
  const next = arrange();
  const same = !force && next.length === items.length && next.every((it, i) => it.key === items[i].key);
  items = next;
  if (!same) {
    if (!store.byID.has(cursor)) cursor = null;
    list.node.hidden = !items.length;
    list.layout(items);
    if (!cursor) aim(items.find(i => i.kind === 'row'));
    if (followed) requestAnimationFrame(follow);
  }
  for (const it of items) if (it.kind === 'group') { const m = list.get(it.key); if (m) m.paint(it); }
  vacancy();
}

/** aim makes one row the one that Tab reaches. */
function aim(it) {
  const old = list.get(cursor);
  if (old) old.node.tabIndex = -1;
  cursor = it ? it.key : null;
  const m = list.get(cursor);
  if (m) m.node.tabIndex = 0;
}

function vacancy() {
  const rows = items.some(i => i.kind === 'row');
  empty.hidden = rows;
  list.node.hidden = !rows;
  put(foot, rows ? 'Days are cut in ' + zoneName() + '.' : '');
  if (rows || !live) return;
  const installed = live.agents.filter(a => a.installed), names = live.agents.map(a => a.display).join(', ');
  if (filter.text) {
    const all = store.rows.filter(r => filter.show === 'hidden' || !r.hidden_why).length;
    say('No match for “' + filter.text + '”', `${num(all)} of ${num(Math.max(all, store.total))} titles, first messages and folders were compared. Message text was not read.`, 'Clear the filter', () => { document.getElementById('find').value = ''; setText(''); });
  } else if (!installed.length && !live.counts.all) {
    say('No agent is installed', 'Tower watches terminal coding agents. Install one, then start it in any terminal: it appears here within 5 seconds.', '', null, live.agents.map(a => h('li', null, h('b', null, a.display), ' ', h('span', { class: 'two' }, a.install || ''), a.why ? h('div', { class: 'three small' }, a.why) : null)));
  } else if (live.import.running && !live.counts.all) {
    say('Reading what was there before', 'Sessions appear here as their transcripts are read.');
  } else if (!live.counts.all) {
    say('No sessions yet', `Tower looked for ${names} and found no transcripts. Launch a session here, or start an agent in any terminal: it appears within 5 seconds.`, 'Launch', launch);
  } else if (filter.show === 'live') {
    say('Nothing is running', 'Launch a session here, or start an agent in any terminal: it appears within 5 seconds.', 'Launch', launch);
  } else if (filter.agent) {
    const a = agents.get(filter.agent);
    say('No session of ' + (a ? a.display : filter.agent), a && !a.installed ? 'It is not installed. ' + a.install : 'Start it in any terminal: it appears within 5 seconds.');
  } else {
    say('Every session is hidden', `${many(live.counts.hidden, 'session is', 'sessions are')} hidden: sub-agents, headless runs, and sessions in which nothing happened.`, 'Show hidden too', () => show('hidden'));
  }
}

function say(title, text, button, act, more) {
  empty.replaceChildren(h('h2', null, title), h('p', { class: 'two' }, text), ...(more ? [h('ul', null, more)] : []), ...(button ? [h('button', { class: 'btn', type: 'button', onclick: act }, button)] : []));
}

/** notice says what was done, where it can be undone; the next one replaces it. */
function notice(text, undo) {
  notices.replaceChildren(no(text, 'plain', undo ? h('button', { class: 'act', type: 'button', onclick: () => { notices.replaceChildren(); undo(); } }, 'Undo') : null));
}

function toggle(id) {
  const was = open;
  if (was) for (const place of ['acts', 'chat']) if (answerOf(was, place)) tell(was, place, null); // read, and closed
  open = open === id ? null : id;
  for (const k of [was, id]) { const m = list.get(k); if (m) m.node.setAttribute('aria-expanded', String(k === open)); }
  relayout();
}

/** reveal opens a session wherever it stands; one that the filters leave out makes them give way. */
function reveal(id) {
  if (!items.some(i => i.key === id)) {
    if (!store.byID.has(id)) { notice('Not in the list. It is hidden, or it is gone: press Hidden too.'); return; }
    filter.text = filter.agent = which.value = '';
    show(store.byID.get(id).hidden_why ? 'hidden' : 'all');
  }
  if (open !== id) toggle(id);
  relayout(true);
  step(0, id);
}

/** jump brings the window of a session to the front; what it was refused for stands in its row. */
async function jump(id) {
  const row = store.byID.get(id), r = row && await act(row, 'focus', {});
  if (r) put(spoken, r.said); else if (row && open !== id) toggle(id);
}

/** jumpHere is jump for the row under the cursor. */
export const jumpHere = () => { if (cursor) jump(cursor); };

// A session that is ended or resumed moves to another group; its panel is followed to where it went.
let followed = null;

function follow() {
  if (!followed || followed.id !== open || Date.now() > followed.until) { followed = null; return; }
  if (!listed(open)) { carry(open); return; }
  const key = 'o:' + open, m = list.get(key), box = m && m.node.getBoundingClientRect();
  if (!box || m.node.classList.contains('away') || box.top < 60 || box.bottom > innerHeight) list.reveal(key);
}

const listed = id => items.some(i => i.key === id);

// A session that left the list, because nothing happened in it before it was ended, has its answer above.
function carry(id) {
  const node = answerOf(id, 'acts');
  notices.replaceChildren(...(node ? [node] : []));
}

onAnswer((id, place) => {
  const m = list.get('o:' + id);
  if (m) m.answer();
  if (place === 'acts' && !listed(id)) { carry(id); return; }
  if (place !== 'acts' || id !== open) return;
  followed = { id, until: Date.now() + 5000 };
  if (answerOf(id, place)) requestAnimationFrame(follow);
});

/** step moves the cursor by n rows, or to the row named, and gives it the focus. */
export function step(n, to) {
  const rows = items.filter(i => i.kind === 'row');
  if (!rows.length) return;
  const at = rows.findIndex(i => i.key === (to || cursor)), inside = document.activeElement && list.node.contains(document.activeElement);
  const next = rows[Math.max(0, Math.min(rows.length - 1, inside || to ? at + n : Math.max(0, at)))];
  const m = list.reveal(next.key);
  aim(next);
  if (m) m.node.focus({ preventScroll: true });
}

/** press opens or closes the row under the cursor. */
export const press = () => { if (cursor) toggle(cursor); };

/** escape closes what is open, and tells whether there was anything. */
export function escape() {
  if (!open) return false;
  toggle(open);
  return true;
}

list.node.addEventListener('click', e => {
  const s = e.target.closest('.s');
  if (!s || e.target.closest('button') || getSelection().toString()) return;
  aim({ key: s.dataset.id });
  toggle(s.dataset.id);
});
list.node.addEventListener('focusin', e => { const s = e.target.closest('.s'); if (s && s.dataset.id !== cursor) aim({ key: s.dataset.id }); });

store.listeners.add((changed, moved) => {
  if (moved || !changed) relayout(); else if ([...changed.values()].some(r => !takes(r) || groupMoved(r))) relayout(); else if (filter.text || filter.agent || filter.show !== 'all') relayout();
  if (changed) {
    for (const [id, r] of changed) { const m = list.get(id); if (m) m.paint(r); }
  } else {
    list.each((key, m) => { const r = store.byID.get(key); if (r) m.paint(r); });
  }
  const o = open && list.get('o:' + open);
  if (o && store.byID.has(open)) { o.paint(store.byID.get(open)); o.refresh(store.revision); }
});

// A row whose facts changed may belong to another group without having changed its place.
function groupMoved(r) {
  const i = items.findIndex(it => it.key === r.asm_id);
  if (i < 0) return true;
  let g = i;
  while (g >= 0 && items[g].kind !== 'group') g--;
  return g < 0 || items[g].name !== groupOf(r, today());
}

/** sessionsLive takes the counts and agents of a poll. */
export function sessionsLive(l) {
  const fresh = !live || JSON.stringify(live.agents.map(a => [a.agent, a.display])) !== JSON.stringify(l.agents.map(a => [a.agent, a.display]));
  live = l;
  for (const a of l.agents) agents.set(a.agent, a);
  launching.paint(l.launches);
  const c = l.counts;
  put(counts, `${num(c.live)} live, ${num(c.visible)} in all, ${num(c.hidden)} hidden`);
  if (fresh) which.replaceChildren(h('option', { value: '' }, 'Every agent'), ...l.agents.map(a => h('option', { value: a.agent, selected: a.agent === filter.agent }, a.display)));
  if (store.loaded) vacancy();
}

let day = 0;

/** sessionsTick repaints what the clock changes: the ages in the window, and the groups at midnight. */
export function sessionsTick(now) {
  list.each((key, m) => { if (m.tick) m.tick(now); });
  const from = today(now).from;
  if (day && day !== from) relayout();
  day = from;
}

export const sessionsShow = () => { list.show(); };

Object.defineProperty(window, '__tower', { value: Object.freeze({ get renders() { return counters.renders; }, get built() { return counters.built; }, get rows() { return store.rows.length; }, get revision() { return store.revision; } }) });
