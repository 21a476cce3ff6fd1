// The cells of a row. Each is built once and then painted in place; a painter writes only what differs.
import { h, icon, put, hint, flash, pill } from './dom.js';
import { stateOf, ctxOf, ago, whenLong, base, num } from './words.js';

/** stateCell holds the pill; kind, word and title are changed on the very same node. */
export function stateCell() {
  const node = pill('ended', ''), use = node.firstChild.firstChild, word = node.lastChild;
  let kind = '';
  return { node, paint(r, first) {
    const [k, w, t] = stateOf(r);
    const moved = put(word, w) | (k !== kind);
    if (k !== kind) {
      kind = k;
      node.className = 'st ' + k;
      use.setAttribute('href', '#g-' + k);
    }
    hint(node, t);
    if (moved && !first) flash(node);
  } };
}

/** titleCell: the title, and on the same line what is asked or how it began. The first message is never a title. One that waits has its way to the window beside it. */
export function titleCell(agents, jump) {
  const t = h('span', { class: 't', dir: 'auto' }), tags = h('span'), veiled = h('span', { class: 'chip veiled', hidden: true }, 'hidden'), f = h('span', { class: 'f', dir: 'auto' });
  const go = h('button', { class: 'btn go', type: 'button', tabindex: '-1', hidden: true, onclick: () => jump(row.asm_id) }, 'Jump');
  const node = h('div', { class: 'row' }, h('div', { class: 'cut' }, t, veiled, tags, f), go);
  let shown = '', row = null;
  return { node, paint(r) {
    row = r;
    const waits = r.live && r.live.pill === 'waiting', ask = waits ? r.live.ask : '';
    go.hidden = !waits;
    const titled = !!r.title;
    put(t, titled ? r.title : r.first_message || 'No title yet');
    t.classList.toggle('un', !titled);
    put(f, ask ? '“' + ask + '”' : titled ? r.first_message : '');
    veiled.hidden = !r.hidden_why;
    hint(veiled, r.hidden_why);
    const list = r.tags.join('\n');
    if (list !== shown) {
      shown = list;
      tags.replaceChildren(...r.tags.map(x => h('span', { class: 'tag' }, x)));
    }
  } };
}

/** agentCell: the two letters, and the name where there is room. */
export function agentCell(agents) {
  const code = h('b'), name = h('span'), node = h('span', { class: 'chip' }, code, name);
  return { node, paint(r) {
    const a = agents.get(r.agent);
    put(code, a ? a.code : r.agent.slice(0, 2).toUpperCase());
    put(name, a ? a.display : r.agent);
    hint(node, name.textContent);
  } };
}

/** textCell shows one string, or a dash in its place. */
export function textCell(text, title) {
  const node = h('span');
  return { node, paint(r, first) {
    if (put(node, text(r)) && !first) flash(node);
    if (title) hint(node, title(r));
  } };
}

export const projectCell = () => textCell(r => r.project || base(r.cwd) || '–', r => r.cwd);
export const modelCell = () => textCell(r => r.model || '–', r => r.model);
export const turnsCell = () => textCell(r => r.turns == null ? '–' : num(r.turns), r => r.turns == null ? 'No reading' : '');

/** ctxCell: the bar and, always, the number beside it. */
export function ctxCell() {
  const fill = h('i'), bar = h('span', { class: 'bar none' }, fill), p = h('span', { class: 'p' }), stale = h('span', { class: 'stale', hidden: true }, 'stale');
  const node = h('span', null, bar, p, stale);
  return { node, paint(r, first) {
    const c = ctxOf(r);
    bar.className = 'bar' + (c.percent == null ? ' none' : c.percent >= 90 ? ' full' : c.percent >= 75 ? ' hot' : '') + (c.stale ? ' old' : '');
    fill.style.width = Math.min(100, c.percent || 0) + '%';
    const moved = put(p, c.text);
    p.classList.toggle('three', c.text === 'no reading');
    stale.hidden = !c.stale;
    hint(node, c.title);
    if (moved && !first) flash(node);
  } };
}

/** closeCell: closed, open or unknown. A live session that is not closed out has nothing to say yet. */
export function closeCell() {
  const node = h('span');
  let shown;
  return { node, paint(r) {
    const v = r.live && r.closeout_state !== 'closed' ? '–' : r.closeout_state || 'unknown';
    if (v === shown) return;
    shown = v;
    node.className = v === 'closed' ? 'st ok' : v === 'open' ? 'two' : 'three';
    node.replaceChildren(...(v === 'closed' ? [icon('ok'), 'closed'] : [v]));
    hint(node, v === 'unknown' ? 'Its records do not say' : '');
  } };
}

/** ageCell is painted by the clock too, not only when its row changes. */
export function ageCell() {
  const node = h('span');
  return { node, paint(r, first, now) {
    put(node, ago(r.last_seen, now));
    hint(node, r.last_seen ? 'Last activity ' + whenLong(r.last_seen) : 'Last activity not known');
  } };
}
