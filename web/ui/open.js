// What a row shows when it is opened in place: its facts, what can be done, and how to take it up again.
import { h, icon, put, hint, copy, no } from './dom.js';
import { stateOf, ctxOf, num, many, whenShort, whenLong, span } from './words.js';
import { get } from './api.js';
import { rename, describe, tag, setHidden } from './dialog.js';
import { makeBar } from './bar.js';

const grades = { record: 'proven by the agent’s own record', lock: 'proven by its writer lock', shared: 'shared with other sessions' };

/** quote makes one word of a POSIX shell. */
export const quote = w => /^[A-Za-z0-9_@%+=:,./-]+$/.test(w) ? w : "'" + w.replaceAll("'", "'\\''") + "'";

/** commandOf is a launch as a line to paste into a terminal. */
export function commandOf(l) {
  const env = Object.entries(l.set || {}).map(([k, v]) => k + '=' + quote(v));
  return (l.cwd ? 'cd ' + quote(l.cwd) + ' && ' : '') + [...env, ...l.argv.map(quote)].join(' ');
}

/** facts is a list of name and value whose values are painted in place; a value of null takes the line away. */
function facts(names) {
  const lines = names.map(([name, mono]) => {
    const v = h('dd', { class: mono ? 'mono' : null });
    return { dt: h('dt', null, name), dd: v };
  });
  const node = h('dl', { class: 'facts' }, lines.flatMap(l => [l.dt, l.dd]));
  return { node, paint(values) {
    values.forEach((v, i) => {
      const l = lines[i], text = Array.isArray(v) ? v[0] : v;
      l.dt.hidden = l.dd.hidden = text == null || text === '';
      put(l.dd, text == null ? '' : text);
      hint(l.dd, Array.isArray(v) ? v[1] : '');
    });
  } };
}

const counted = m => Object.entries(m || {}).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 8).map(([k, n]) => n > 1 ? k + ' ×' + n : k).join(', ');

/** makeOpen builds the panel under a row. world.notice shows a line with an undo, world.reveal opens a neighbour. */
export function makeOpen(r, world) {
  const { agents, notice } = world;
  let row = r, detail = null, wanted = -1, line = '', warned = '';
  const left = facts([['Folder', true], ['Started'], ['Ended'], ['Process'], ['Runs'], ['Tags'], ['Hidden']]);
  const right = facts([['Session', true], ['Agent'], ['Model'], ['Context'], ['Turns'], ['Skills'], ['Closeout'], ['Class'], ['Tower id', true]]);
  const say = h('div', { class: 'say' }), about = h('div', { class: 'small' }), chain = h('div', { class: 'small two' }), said = h('div'), bar = makeBar(r, world);
  const act = (name, f) => h('button', { class: 'btn', type: 'button', onclick: f }, name);
  const veil = act('Hide', () => setHidden(row, !row.hidden_why, notice));
  const command = h('code', { class: 'cut' }), take = h('button', { class: 'act', type: 'button', onclick: () => copy(line, take) }, icon('copy'), h('span', null, 'Copy'));
  const resume = h('div', { class: 'copy', hidden: true }, command, take);
  const node = h('div', { class: 'op', role: 'row' }, h('div', { class: 'panel', role: 'gridcell', 'aria-colspan': 9 }, left.node, right.node,
    h('div', { class: 'stack' }, say, about, bar.node, said, h('div', { class: 'row wrap' }, act('Rename', () => rename(row)), act('Describe', () => describe(row, detail && detail.description)), act('Tag', () => tag(row)), veil), resume, chain)));

  function paint(next) {
    row = next || row;
    const l = row.live, a = agents.get(row.agent), runs = detail ? detail.runs : null;
    const process = l && l.process.pid ? `pid ${l.process.pid}, ${l.proven ? 'start proven' : 'not proven at the last look'}` : null;
    left.paint([
      row.cwd, row.started_at ? [whenShort(row.started_at), whenLong(row.started_at)] : null,
      row.ended_at && !l ? [whenShort(row.ended_at) + (row.started_at ? ', after ' + span(row.ended_at - row.started_at) : ''), whenLong(row.ended_at)] : null,
      process ? [process, grades[l.grade] || ''] : l ? 'no reading' : null,
      runs ? (runs.length ? many(runs.length, 'run') + (l && runs.length > 1 ? ', this is the last' : '') : 'none recorded') : '…',
      row.tags.join(', '), row.hidden_why,
    ]);
    const c = ctxOf(row);
    right.paint([
      row.agent_session_id, (a ? a.display : row.agent) + (detail && detail.version ? ' ' + detail.version : ''), row.model || 'no reading',
      c.text === 'no reading' ? c.text : c.title, row.turns == null ? 'no reading' : num(row.turns), detail ? counted(detail.skills) : null,
      row.closeout_state || 'unknown', l && l.said ? l.said.class + (l.said.line ? ' “' + l.said.line + '”' : '') : null, row.asm_id,
    ]);
    const state = stateOf(row);
    const ask = l && l.pill === 'waiting' && l.ask;
    put(say, ask ? '“' + l.ask + '”' : detail && detail.first_message || row.first_message);
    say.hidden = !say.textContent;
    const text = detail && detail.description;
    put(about, text || (detail && detail.summary) || (l ? '' : state[2] + '.'));
    about.hidden = !about.textContent;
    put(veil, row.hidden_why ? 'Unhide' : 'Hide');
    hint(veil, row.hidden_why ? 'Hidden: ' + row.hidden_why : 'It leaves the list and the counts; nothing is deleted');
    if (warned !== (l && l.caution || '')) said.replaceChildren(...((warned = l && l.caution || '') ? [no(warned)] : []));
    bar.paint(row);
  }

  async function fetchDetail(revision) {
    if (wanted === revision) return;
    wanted = revision;
    let d;
    try {
      d = await get('/api/sessions/' + row.asm_id);
    } catch (f) {
      if (f.status) { warned = f.sentence; said.replaceChildren(no(warned)); }
      return;
    }
    detail = d;
    line = d.resume && d.resume.argv ? commandOf(d.resume) : '';
    resume.hidden = !line || !!row.live;
    put(command, line);
    hint(command, line);
    chain.replaceChildren(...d.chain.flatMap((c, i) => [i ? ' · ' : '', c.how + ' ', h('a', { href: '#sessions', onclick: e => { e.preventDefault(); world.reveal(c.asm_id); } }, c.title || c.asm_id.slice(0, 8))]));
    chain.hidden = !d.chain.length;
    paint();
  }

  paint(r);
  return { node, paint, refresh: fetchDetail, answer: bar.answer };
}
