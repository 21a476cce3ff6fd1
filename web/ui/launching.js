// Launches that have led to no session yet, above the list. Each is built once and painted in place; it
// goes when the tower no longer tells of it.
import { h, put, hint, icon } from './dom.js';
import { base, whenShort } from './words.js';

const kinds = { opening: ['starting', 'Opening'], started: ['starting', 'Started'], blocked: ['waiting', 'Waits: dialog'], failed: ['bad', 'Failed'] };

/** sentence says how far a launch is. */
function sentence(l) {
  if (l.state === 'opening') return l.terminal ? `Opening in ${l.terminal}.` : 'Opening.';
  if (l.state === 'started') return 'Started, no session yet.';
  const text = l.text || '';
  if (l.state === 'blocked') return /^[A-Z]/.test(text) ? text : text ? `Stopped by a dialog: ${text.replace(/\.$/, '')}.` : 'Stopped by a dialog.';
  return text || 'It came to nothing; nobody can say why.';
}

function makeEntry(l, world) {
  const glyph = icon('starting'), word = h('span'), state = h('span', { class: 'st' }, glyph, word), title = h('b', { class: 'cut', dir: 'auto' }), code = h('b'), who = h('span'), chip = h('span', { class: 'chip' }, code, who);
  const where = h('span', { class: 'mono three cut' }), since = h('span', { class: 'three small push' }), text = h('span', { class: 'two' }), lines = h('pre', { hidden: true }), again = h('button', { class: 'btn', type: 'button', hidden: true, onclick: () => world.launch({ agent: l.agent, cwd: l.cwd, name: l.name }) }, 'Launch again…');
  const node = h('li', { class: 'ln' }, h('div', { class: 'row' }, state, title, chip, where, since), h('div', { class: 'row wrap' }, text, again), lines);
  let kind = '';
  return { node, paint(next) {
    l = next;
    const [k, w] = kinds[l.state] || ['raw', l.state];
    if (k !== kind) { kind = k; state.className = 'st ' + k; glyph.firstChild.setAttribute('href', '#g-' + k); }
    put(word, w);
    const a = world.agents.get(l.agent);
    put(title, l.name || (l.expect_asm_id && world.title(l.expect_asm_id)) || base(l.cwd) || 'New session');
    put(code, a ? a.code : l.agent.slice(0, 2).toUpperCase());
    put(who, a ? a.display : l.agent);
    put(where, l.cwd);
    hint(where, l.cwd);
    put(since, l.requested_at ? 'asked ' + whenShort(Date.parse(l.requested_at)) : '');
    put(text, sentence(l));
    put(lines, (l.lines || []).join('\n'));
    lines.hidden = !lines.textContent;
    again.hidden = l.state !== 'failed';
  } };
}

/** makeLaunching builds the list of launches. */
export function makeLaunching(world) {
  const list = h('ul', { 'aria-live': 'polite' }), node = h('section', { class: 'panel launches', 'aria-label': 'Launches', hidden: true }, list), known = new Map();
  return { node, paint(launches) {
    const keep = new Set(launches.map(l => l.token));
    for (const [token, e] of known) if (!keep.has(token)) { e.node.remove(); known.delete(token); }
    launches.forEach((l, i) => {
      let e = known.get(l.token);
      if (!e) known.set(l.token, e = makeEntry(l, world));
      if (list.children[i] !== e.node) list.insertBefore(e.node, list.children[i] || null);
      e.paint(l);
    });
    node.hidden = !launches.length;
  } };
}
