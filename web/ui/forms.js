// The forms that start an agent: a new session, one that is taken up again, one that is handed over.
import { h, put } from './dom.js';
import { post } from './api.js';
import { showDialog, head } from './dialog.js';
import { tell, refusal, done, longest } from './acts.js';

const called = r => r.title || r.first_message || 'this session';
let ids = 0;

/** labelled puts a label beside a field, and a line under it. */
function labelled(name, field, note) {
  field.id = field.id || 'f' + ++ids;
  return [h('label', { for: field.id }, name), h('div', null, field, note ? h('div', { class: 'three small' }, note) : null)];
}

const plain = (name, value, note) => [h('span', { class: 'k' }, name), h('div', { class: 'v' }, value, note ? h('span', { class: 'three' }, ' ' + note) : null)];
const line = attrs => h('input', { class: 'field', autocomplete: 'off', spellcheck: 'false', ...attrs });
const text = (rows, placeholder) => h('textarea', { class: 'field', rows, placeholder });

/** suggest offers texts under a field; it never fills one in. */
function suggest(field) {
  const list = h('datalist', { id: 'l' + ++ids });
  field.setAttribute('list', list.id);
  return { list, paint(texts) { list.replaceChildren(...texts.map(t => h('option', { value: t }))); } };
}

/** choice is one of the agents, in a group of buttons. */
function choice(name, list, first, changed) {
  let value = list.some(a => a.agent === first) ? first : list[0].agent;
  const buttons = list.map(a => h('button', { type: 'button', 'data-agent': a.agent, onclick: () => { value = a.agent; paint(); changed(value); } }, a.display));
  const paint = () => { for (const b of buttons) b.setAttribute('aria-pressed', String(b.dataset.agent === value)); };
  paint();
  return { node: h('div', { class: 'seg', role: 'group', 'aria-label': name }, buttons), get value() { return value; } };
}

/** form opens a dialog. send returns a promise of the result; a refusal of it stands under the fields. */
function form({ title, body, go, note, send, good, first, home }) {
  const said = h('div', { class: 'full', 'aria-live': 'polite' }), start = h('button', { class: 'btn main' }, go), away = h('button', { class: 'btn push', type: 'button', onclick: () => d.close() }, send ? 'Cancel' : 'Close');
  const fields = h('div', { class: 'body form' }, [body].flat(2), said), foot = h('span', { class: 'three small' }, note);
  let sending = false;
  const d = h('dialog', { 'aria-label': title }, h('form', { method: 'dialog', novalidate: true, onsubmit: async e => {
    e.preventDefault();
    if (sending || !send) return;
    sending = true;
    start.setAttribute('aria-disabled', 'true');
    said.replaceChildren();
    put(foot, 'Waiting for its window.');
    try {
      const r = await send();
      put(foot, '');
      good(r, d, { fields, said, start, away });
    } catch (f) {
      put(foot, note);
      said.replaceChildren(refusal(f));
      said.scrollIntoView({ block: 'nearest' });
    }
    sending = false;
    start.removeAttribute('aria-disabled');
  }, onkeydown: e => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && e.target.matches('textarea')) { e.preventDefault(); start.click(); }
  } }, head(title, () => d.close()), fields, h('footer', null, foot, away, send ? start : null)));
  showDialog(d, home);
  (first || away).focus();
}

/** launchForm asks for a new session; with is what is filled in already: agent, cwd, name. */
export function launchForm(world, with_) {
  const given = with_ || {}, list = [...world.agents.values()].filter(a => a.installed);
  if (!list.length) {
    form({ title: 'New session', note: 'Tower looks again by itself.', body: h('div', { class: 'full stack' }, h('h2', null, 'No agent is installed'), h('p', { class: 'two' }, 'Install one of these, then launch it here or start it in any terminal.'),
      h('ul', { class: 'stack small' }, [...world.agents.values()].map(a => h('li', null, h('b', null, a.display), ' ', h('span', { class: 'two' }, a.install || ''), a.why ? h('div', { class: 'three' }, a.why) : null)))) });
    return;
  }
  const cwd = line({ class: 'field mono', name: 'cwd', maxlength: 4096, value: given.cwd || null, placeholder: 'Full path of a folder' }), model = line({ name: 'model', maxlength: 200, placeholder: 'The agent’s own choice' });
  const name = line({ name: 'name', maxlength: 200, placeholder: 'Optional', value: given.name || null }), prompt = text(4, 'Optional. Sent as one message, exactly as typed.');
  const folders = suggest(cwd), models = suggest(model), where = h('span');
  const changed = agent => {
    const a = world.agents.get(agent), recent = a.folders || [];
    folders.paint(recent);
    models.paint(world.models(agent));
    put(where, recent.length ? `The last folders of ${a.display} are offered under the field.` : `${a.display} has run in no folder yet: write the full path of one that exists.`);
  };
  const agent = choice('Agent', list, given.agent, changed);
  changed(agent.value);
  form({
    title: 'New session', go: 'Launch', note: 'Opens in a terminal window of its own, or in tmux where there is none.', first: cwd,
    body: [h('span', { class: 'k' }, 'Agent'), agent.node, labelled('Folder', cwd, where), folders.list, labelled('Model', model), models.list, labelled('Name', name), labelled('Prompt', prompt)],
    send: () => post('/api/launch', { agent: agent.value, cwd: cwd.value, model: model.value, name: name.value, prompt: prompt.value }, longest),
    good(r, d, { fields, said, start, away }) {
      const id = r.launch && r.launch.asm_id;
      said.replaceChildren(done(r, id ? h('button', { class: 'act', type: 'button', onclick: () => { d.close(); world.reveal(id); } }, 'Show it') : null));
      fields.replaceChildren(said);
      start.remove();
      put(away, 'Close');
      away.focus();
    },
  });
}

/** resumeForm asks with what a session is taken up again. Its agent is no question. */
export function resumeForm(r, world) {
  const a = world.agents.get(r.agent), who = a ? a.display : r.agent;
  const model = line({ name: 'model', maxlength: 200, placeholder: 'What it resumes with by itself' }), cwd = line({ class: 'field mono', name: 'cwd', maxlength: 4096, value: r.cwd }), models = suggest(model);
  models.paint(world.models(r.agent));
  form({
    title: 'Resume: ' + called(r), go: 'Resume', note: 'The same session, one more run.', first: model, home: () => world.home(r.asm_id),
    body: [plain('Agent', who, `fixed: only ${who} can read its own transcript. To change agents use “Continue with…”.`), labelled('Model', model, 'Empty: no model is asked for.'), models.list, labelled('Folder', cwd, 'Another one only when this one is gone.')],
    send: () => post(`/api/sessions/${r.asm_id}/resume`, { ...(model.value.trim() ? { model: model.value } : {}), ...(cwd.value !== r.cwd ? { cwd: cwd.value } : {}) }, longest),
    good(result, d) { d.close(); tell(r.asm_id, 'acts', done(result)); },
  });
}

/** continueForm asks who takes over. */
export function continueForm(r, world) {
  const list = [...world.agents.values()].filter(a => a.installed && a.agent !== r.agent), title = 'Continue: ' + called(r);
  if (!list.length) {
    const rest = [...world.agents.values()].filter(a => a.agent !== r.agent);
    form({ title, note: '', body: h('div', { class: 'full stack' }, h('h2', null, 'No other agent is installed'), h('p', { class: 'two' }, 'Another agent has to be there to take over.'),
      h('ul', { class: 'stack small' }, rest.map(a => h('li', null, h('b', null, a.display), ' ', h('span', { class: 'two' }, a.install || ''))))) });
    return;
  }
  const model = line({ name: 'model', maxlength: 200, placeholder: 'The agent’s own choice' }), prompt = text(4, 'Optional. Added after what it is told of this session.'), models = suggest(model);
  const agent = choice('With', list, '', a => models.paint(world.models(a)));
  models.paint(world.models(agent.value));
  form({
    title, go: 'Continue', note: 'A new session, linked to the old one.', home: () => world.home(r.asm_id), first: agent.node.querySelector('[aria-pressed=true]'),
    body: [h('span', { class: 'k' }, 'With'), agent.node, labelled('Model', model), models.list, plain('Opens with', 'who came before, in which folder, its transcript and its last message'), labelled('Prompt', prompt)],
    send: () => post(`/api/sessions/${r.asm_id}/continue`, { agent: agent.value, ...(model.value.trim() ? { model: model.value } : {}), ...(prompt.value ? { prompt: prompt.value } : {}) }, longest),
    good(result, d) { d.close(); tell(r.asm_id, 'acts', done(result)); },
  });
}
