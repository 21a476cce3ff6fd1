// The Health view: what each loop did last, what is wrong and how to mend it, agents and doors.
import { h, put, pill, icon, no, copy } from './dom.js';
import { get, post } from './api.js';
import { ago, num, many, span, whenShort, whenLong } from './words.js';

let shown = null, timer = 0, devices = [];

const verdict = h('span'), where = h('span', { class: 'two' }), report = h('button', { class: 'btn', type: 'button', onclick: () => copy(JSON.stringify(shown, null, 1), report) }, icon('copy'), h('span', null, 'Copy report'));
const again = h('button', { class: 'btn', type: 'button', onclick: sweep }, 'Read transcripts now'), said = h('div'), problems = h('div', { class: 'stack' });
const rows = new Map(), loops = h('tbody'), agentRows = h('tbody'), unread = h('div', { class: 'pad' }), doors = h('div', { class: 'pad stack' });
const th = (name, cls) => h('th', { class: cls }, name);

export const healthView = h('section', { 'aria-label': 'Health' }, h('div', { class: 'pagehead' }, h('h1', null, 'Health'), verdict, where, h('div', { class: 'row push' }, again, report)),
  h('div', { class: 'stack' }, said, problems,
    h('section', { class: 'panel' }, h('table', { class: 'stacked fixed' }, h('thead', null, h('tr', null, th('Loop', 'w-name'), th('State', 'w-state'), th('Last result'), th('Last', 'num w-last'))), loops)),
    h('section', { class: 'panel' }, h('header', null, h('h2', null, 'Agents')), h('table', { class: 'stacked fixed' }, h('thead', null, h('tr', null, th('Agent', 'w-name'), th('Sessions', 'w-state'), th('Hooks'))), agentRows)),
    h('section', { class: 'panel' }, h('header', null, h('h2', null, 'Not read')), unread),
    h('section', { class: 'panel' }, h('header', null, h('h2', null, 'Doors')), doors)));

async function sweep() {
  again.disabled = true;
  said.replaceChildren(no('Reading. Unchanged transcripts are not opened.', 'plain'));
  try {
    const r = await post('/api/import', {}, 0);
    said.replaceChildren(no(r.said, 'plain'));
  } catch (f) {
    said.replaceChildren(no(f.sentence || f.message));
  }
  again.disabled = false;
}

/** healthShow reads and paints while the view is open; healthHide stops it. */
export function healthShow(live) {
  paintAgents(live.agents);
  if (!timer) { timer = setInterval(read, 5000); read(); }
}

export function healthHide() {
  clearInterval(timer);
  timer = 0;
}

async function read() {
  if (document.hidden && shown) return;
  try {
    const [a, d] = await Promise.all([get('/api/health'), get('/api/devices')]);
    shown = a;
    devices = d.devices;
  } catch {
    return; // the page says by itself that the tower is down
  }
  paint();
}

function loopRow(name) {
  const state = h('td'), text = h('td', { class: 'two' }), last = h('td', { class: 'num three' });
  let kind = '';
  const node = h('tr', null, h('td', null, h('b', null, name)), state, text, last);
  return { node, paint(l) {
    const k = l.error ? 'bad' : l.behind ? 'idle' : l.last_ok ? 'ok' : 'starting';
    if (k !== kind) { kind = k; state.replaceChildren(pill(k, { bad: 'Sick', idle: 'Behind', ok: 'Well', starting: 'Not yet run' }[k])); }
    put(text, l.error || l.behind || (l.last_ok ? 'nothing waits' : 'its first turn has not come'));
    put(last, l.error && l.since ? 'since ' + whenShort(Date.parse(l.since)) : l.last_ok ? ago(Date.parse(l.last_ok)) : '–');
    last.title = l.last_ok ? 'Last went well ' + whenLong(Date.parse(l.last_ok)) : '';
  } };
}

function paint() {
  const a = shown, sick = a.loops.filter(l => l.error).length, wrong = sick + a.problems.length;
  const text = sick ? `${sick} of ${many(a.loops.length, 'loop')} ${sick === 1 ? 'is' : 'are'} sick` : a.problems.length ? many(a.problems.length, 'problem') : a.loops.length ? `All ${a.loops.length} loops are well` : 'No loop has run yet';
  if (verdict.textContent !== text) verdict.replaceChildren(pill(wrong ? 'bad' : 'ok', text));
  put(where, `${a.mode} mode, ${a.url.replace('http://', '')}, up ${span(Date.parse(a.now) - Date.parse(a.since))}, build ${a.build}`);
  const key = JSON.stringify([a.problems, a.loops.filter(l => l.error).map(l => [l.name, l.error, l.since])]);
  if (problems.dataset.key !== key) {
    problems.dataset.key = key;
    problems.replaceChildren(...a.loops.filter(l => l.error).map(l => no(`${l.name} is sick${l.since ? ' since ' + whenShort(Date.parse(l.since)) : ''}. ${l.error}. It tries again by itself.`, 'sick')), ...a.problems.map(p => no(`${p.text} ${p.fix || ''}`.trim(), 'sick')));
    problems.hidden = !problems.childNodes.length;
  }
  for (const l of a.loops) {
    if (!rows.has(l.name)) { const r = loopRow(l.name); rows.set(l.name, r); loops.append(r.node); }
    rows.get(l.name).paint(l);
  }
  paintUnread(a);
  paintDoors(a);
}

function paintUnread(a) {
  const types = Object.entries(a.unknown_types).sort((x, y) => y[1] - x[1]), key = JSON.stringify([a.bad_files, a.bad_lines, types]);
  if (unread.dataset.key === key) return;
  unread.dataset.key = key;
  const line = (n, one, where) => h('div', { class: 'row wrap' }, icon(n ? 'raw' : 'ok', n ? 'dot raw' : 'dot ok'), h('span', null, `${num(n)} ${n === 1 ? one : one + 's'}`), h('span', { class: 'three small' }, where));
  unread.replaceChildren(h('div', { class: 'stack small' }, line(a.bad_files, 'event file', 'set aside because they could not be read; one line each in the log'), line(a.bad_lines, 'transcript line', 'could not be walked; the rest of the file was read'),
    types.length ? h('div', null, h('div', { class: 'row wrap' }, icon('raw', 'dot raw'), h('span', null, many(types.length, 'line type') + ' unknown'), h('span', { class: 'three small' }, 'counted, not understood; a newer agent writes them')), h('p', { class: 'mono two' }, types.slice(0, 40).map(([t, n]) => t + ' ×' + num(n)).join(', '))) : line(0, 'unknown line type', '')));
}

function paintDoors(a) {
  const key = JSON.stringify([a.ports, a.doors, devices.map(d => [d.id, d.seen])]);
  if (doors.dataset.key === key) return;
  doors.dataset.key = key;
  const out = async (d, b) => { b.disabled = true; try { await post(`/api/devices/${d.id}/signout`); } catch (f) { said.replaceChildren(no(f.sentence || f.message)); } if (d.this) location.replace('/login'); else read(); };
  doors.replaceChildren(h('dl', { class: 'facts' }, h('dt', null, 'Addresses'), h('dd', { class: 'mono' }, a.ports.join('  ') || a.url), h('dt', null, 'Script token'), h('dd', null, a.doors.token ? 'on' : 'off'), h('dt', null, 'Password'), h('dd', null, a.doors.password ? 'set' : 'none')),
    h('div', { class: 'stack small' }, h('span', { class: 'label' }, 'Signed-in browsers'), devices.length ? devices.map(d => {
      const b = h('button', { class: 'act stop', type: 'button', onclick: () => out(d, b) }, 'Sign out');
      return h('div', { class: 'row' }, h('span', null, d.this ? 'This browser' : d.label), h('span', { class: 'three' }, `by ${d.by} ${whenShort(Date.parse(d.since))}${d.this ? '' : ', last here ' + ago(Date.parse(d.seen))}`), h('span', { class: 'push' }, b));
    }) : 'none'));
}

let agentKey = '';

function paintAgents(list) {
  const key = JSON.stringify(list);
  if (key === agentKey) return;
  agentKey = key;
  const kinds = { installed: 'ok', 'needs trust': 'raw', partial: 'raw', unreadable: 'bad' };
  agentRows.replaceChildren(...list.map(a => h('tr', null, h('td', null, h('span', { class: 'chip' }, h('b', null, a.code), h('span', null, a.display))), h('td', { class: 'two' }, `${num(a.counts.visible)}, ${num(a.counts.live)} live`),
    h('td', { class: 'wide' }, a.installed
      ? [pill(kinds[a.hooks.state] || 'idle', cap(a.hooks.state || 'not installed')), ' ', h('span', { class: 'two' }, a.hooks.reason || (a.hooks.state === 'installed' ? many((a.hooks.events || []).length, 'event') : '')), (a.hooks.missing || []).length && a.hooks.state === 'partial' ? h('span', { class: 'three small' }, ' missing: ' + a.hooks.missing.join(', ')) : null, a.hooks.state === 'not installed' || !a.hooks.state ? h('span', { class: 'three small' }, ' Install them with ', h('span', { class: 'mono' }, 'tower hooks install ' + a.agent)) : null]
      : [h('span', { class: 'two' }, 'Not installed. ' + (a.install || '')), a.why ? h('div', { class: 'three small' }, a.why) : null]))));
}

const cap = s => s[0].toUpperCase() + s.slice(1);
