// The actions of one session: buttons in a fixed order, the answer under them, and the chat box with its
// own. What is likely to be refused stays readable and can be pressed; the tower says why.
import { h, hint, no } from './dom.js';
import { act, tell, answerOf } from './acts.js';
import { resumeForm, continueForm } from './forms.js';

const drafts = new Map(); // what was typed and not sent, by session

/** slot is a place for an answer. A button in it that had the focus hands it on to heir. */
function slot(id, place, heir) {
  const node = h('div', { 'aria-live': 'polite' });
  return { node, paint() {
    const want = answerOf(id, place);
    if (node.firstChild === want) return;
    const had = node.contains(document.activeElement);
    if (want) node.replaceChildren(want); else node.replaceChildren();
    if (had) heir.focus({ preventScroll: true });
  } };
}

/** makeBar builds the actions of a row. world gives the forms what they need. */
export function makeBar(r, world) {
  const id = r.asm_id;
  let row = r;
  const make = (name, cls, press) => h('button', { class: 'btn' + cls, type: 'button', onclick: () => {
    if (row.busy) tell(id, 'acts', no(`Not done. Another action is under way on it: ${row.busy}. Wait for it to end.`)); else press();
  } }, name);
  const jump = make('Jump', '', () => act(row, 'focus', {})), end = make('End', ' stop', () => act(row, 'end', {}));
  const resume = make('Resume', '', () => { if (row.live) act(row, 'resume', {}); else resumeForm(row, world); });
  const go = make('Continue with…', '', () => { if (row.live) tell(id, 'acts', no('Not continued. ' + running)); else continueForm(row, world); });
  const close = make('Close out', '', () => act(row, row.live ? 'closeout-live' : 'closeout', {}));
  const attach = make('Attach', '', () => act(row, 'attach', {}));
  const said = slot(id, 'acts', end);

  const field = h('textarea', { class: 'field', rows: 2, 'aria-label': 'Message to this session', placeholder: 'Message', oninput: () => { drafts.set(id, field.value); }, onkeydown: e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); send(); } } });
  field.value = drafts.get(id) || '';
  const go1 = h('button', { class: 'btn', type: 'submit' }, 'Send'), heard = slot(id, 'chat', field);
  const chat = h('form', { class: 'chat', onsubmit: e => { e.preventDefault(); send(); } }, field, heard.node, h('div', { class: 'row wrap' }, go1, h('span', { class: 'three small push' }, 'one message, exactly as typed')));

  async function send() {
    const text = field.value;
    if (!text) { field.focus(); return; }
    if (await act(row, 'type', { text }) && field.value === text) {
      field.value = '';
      drafts.delete(id);
    }
  }

  const bar = h('div', { class: 'row wrap', role: 'group', 'aria-label': 'Actions' }, jump, end, resume, go, close, attach);
  const node = h('div', { class: 'stack' }, bar, said.node, chat);

  /** state says whether a button is the one to press, and why it will be refused. */
  function state(b, why, main) {
    const off = row.busy ? `An action is under way: ${row.busy}.` : why || '';
    b.classList.toggle('main', !off && !!main);
    if (off) b.setAttribute('aria-disabled', 'true'); else b.removeAttribute('aria-disabled');
    hint(b, off);
  }

  function paint(next) {
    row = next;
    const l = row.live, over = !l && ['ended', 'lost', 'killed'].includes(row.status), asked = l && l.pill === 'waiting';
    state(jump, over && 'It has ended and has no window.', l);
    state(end, over ? 'It has ended.' : l && l.no_end);
    state(resume, l && 'It is running.', over);
    state(go, l && running);
    state(close, asked && 'It waits for you; typed text would answer it.');
    state(attach, over && 'It has ended.');
    state(go1, asked && 'It waits for you; typed text would answer it.');
    chat.hidden = !l;
    answer();
  }

  const answer = () => { said.paint(); heard.paint(); };
  return { node, paint, answer };
}

const running = 'It is still running, and two agents never work on one thread. End it first.';
