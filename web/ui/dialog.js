// The few dialogs: what a person types about a session, and the list of keys.
import { h, icon, no } from './dom.js';
import { post } from './api.js';

/** showDialog opens a dialog and takes it out of the document when it closes. The focus goes back to where it was; home is called when that is no longer there. */
export function showDialog(node, home) {
  document.body.append(node);
  node.addEventListener('close', () => {
    node.remove();
    if (home && document.activeElement === document.body) home();
  });
  node.addEventListener('click', e => { if (e.target === node) node.close(); });
  node.showModal();
  return node;
}

/** head is the head of a dialog: what it is, and the way out. */
export const head = (title, close) => h('header', null, h('h2', { class: 'cut' }, title), h('button', { class: 'btn bare push', type: 'button', 'aria-label': 'Close', onclick: close }, icon('bad')));

/** ask opens a form with one field. send returns a promise; its fault is shown under the field. */
function ask({ title, label, field, note, send }) {
  const said = h('div'), save = h('button', { class: 'btn main' }, 'Save');
  field.id = 'asked';
  const form = h('form', { method: 'dialog', onsubmit: async e => {
    e.preventDefault();
    save.disabled = true;
    try {
      await send(field.value);
      d.close();
    } catch (f) {
      said.replaceChildren(no(f.sentence || f.message));
      field.focus();
    }
    save.disabled = false;
  } }, head(title, () => d.close()), h('div', { class: 'body' }, h('label', { for: 'asked' }, label), field, said),
  h('footer', null, h('span', { class: 'three small' }, note), h('button', { class: 'btn push', type: 'button', onclick: () => d.close() }, 'Cancel'), save));
  const d = h('dialog', { 'aria-label': title }, form);
  showDialog(d);
  field.focus();
  if (field.select) field.select();
}

const route = (r, verb) => `/api/sessions/${r.asm_id}/${verb}`;
const called = r => r.title || r.first_message || 'this session';

export const rename = r => ask({
  title: 'Rename: ' + called(r), label: 'Name', note: 'Empty takes the name away; the agent’s own title shows again.',
  field: h('input', { class: 'field', maxlength: 200, value: r.name, placeholder: r.name ? null : r.title, autocomplete: 'off' }),
  send: v => post(route(r, 'rename'), { name: v }),
});

export const describe = (r, text) => {
  const field = h('textarea', { class: 'field', rows: 6, maxlength: 4000 });
  field.value = text || '';
  ask({ title: 'Describe: ' + called(r), label: 'What this session is about', note: 'For you and for search. No agent reads it.', field, send: v => post(route(r, 'describe'), { description: v }) });
};

export const tag = r => ask({
  title: 'Tag: ' + called(r), label: 'Tags, separated by commas', note: 'They replace the ones it has.',
  field: h('input', { class: 'field', value: r.tags.join(', '), autocomplete: 'off', maxlength: 1300 }),
  send: v => post(route(r, 'tag'), { tags: v.split(',').map(t => t.trim().replace(/^#/, '')).filter(Boolean) }),
});

/** setHidden hides or shows a session and says so where it can be undone. */
export async function setHidden(r, hidden, notice) {
  try {
    await post(route(r, hidden ? 'hide' : 'unhide'));
    notice(`${hidden ? 'Hidden.' : 'Shown again.'} ${called(r)}`, () => setHidden(r, !hidden, notice));
  } catch (f) {
    notice(f.sentence || f.message);
  }
}

const list = [['/', 'filter the list'], ['j k', 'next, previous session'], ['Enter', 'open or close the session'], ['x', 'the same'], ['J', 'jump to its window'], ['n', 'launch a session'], ['g s', 'Sessions'], ['g h', 'History'], ['g e', 'Health'], ['t', 'light or dark'], ['Esc', 'close, clear the filter'], ['?', 'this list']];

export function keyList() {
  const d = h('dialog', { 'aria-label': 'Keys' }, head('Keys', () => d.close()), h('div', { class: 'body' },
    h('dl', { class: 'keys' }, list.flatMap(([k, what]) => [h('dt', null, k.split(' ').map(x => h('kbd', null, x))), h('dd', null, what)]))));
  showDialog(d);
}
