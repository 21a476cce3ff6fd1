// What is asked of sessions, and what came of it. An answer stays beside its buttons until the next press;
// it is kept here, so that it outlives a panel that scrolls out of the window.
import { h, no } from './dom.js';
import { post } from './api.js';

/** longest is how many seconds an action may take before this page stops waiting for its answer. */
export const longest = 74;

const answers = new Map(), under = new Set(), listeners = new Set();

/** answerOf is the node that tells what came of the last press: place is 'acts' or 'chat'. */
export const answerOf = (id, place) => answers.get(place + id) || null;

/** onAnswer calls f(id, place) when an answer came or went. */
export const onAnswer = f => { listeners.add(f); };

/** tell puts an answer beside a session's buttons; null takes it away. */
export function tell(id, place, node) {
  if (node) answers.set(place + id, node); else answers.delete(place + id);
  for (const f of listeners) f(id, place);
}

/** refusal is an answer that is not the one asked for, in its own words. Amber is for one that waits for you. */
export function refusal(f, row) {
  if (f.status === undefined) console.error(f); // a mistake in this page, not an answer
  return no(f.sentence || f.message, !f.refused ? 'sick' : row && row.live && row.live.pill === 'waiting' ? 'warn' : '');
}

/** done is a result in its own words, with what a person should know besides. */
export function done(r, ...more) {
  const cautions = r.launch && r.launch.cautions || [];
  return no(r.said, 'done', ...cautions.map(c => ' ' + c), ...more);
}

const button = (name, f) => h('button', { class: 'act', type: 'button', onclick: f }, name);

/** ended tells the consequence of END: what can be pressed next stands behind it. */
function ended(row, r) {
  const e = r.end;
  if (!e.ended) return no(r.said || 'Not ended. ' + (e.detail || ''), 'sick', button('End by force', () => act(row, 'end', { force: true })));
  const resume = button('Resume', () => act(row, 'resume', {}));
  if (e.window_closed === false) return no('Ended, window still open. ' + (e.detail || ''), '', resume);
  return no(r.said, 'done', resume);
}

/** act sends one action and shows its answer. It returns the result, or null when there is none. */
export async function act(row, verb, body) {
  const id = row.asm_id, place = verb === 'type' ? 'chat' : 'acts', key = verb + id;
  if (under.has(key)) return null;
  under.add(key);
  tell(id, place, null);
  let result = null, node;
  try {
    result = await post(`/api/sessions/${id}/${verb}`, body, longest);
    node = result.end ? ended(row, result) : done(result);
  } catch (f) {
    node = refusal(f, row);
  }
  under.delete(key);
  tell(id, place, node);
  return result;
}
