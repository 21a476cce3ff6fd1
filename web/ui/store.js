// The rows this page knows, in the tower's order. Rows are replaced, never edited.
import { get } from './api.js';

export const store = {
  rows: [], byID: new Map(), revision: -1, run: '', total: 0,
  all: false,      // hidden ones too
  loaded: false,   // the first page is here
  complete: false, // all pages are here
  listeners: new Set(),
};

const instants = ['started_at', 'last_seen', 'ended_at'], texts = ['title', 'name', 'first_message', 'cwd', 'project', 'model', 'end_reason', 'hidden_why', 'closeout_state', 'busy'];

// What is not known is null in an answer; a text of this page is then empty.
function adopt(r) {
  for (const k of texts) r[k] = r[k] || '';
  for (const k of instants) r[k] = r[k] ? Date.parse(r[k]) : null;
  if (r.live) r.live.since = r.live.since ? Date.parse(r.live.since) : null;
  r.hay = (r.title + '\n' + r.first_message + '\n' + r.cwd + '\n' + r.tags.join(' ')).toLowerCase();
  return r;
}

function tell(changed, moved) {
  for (const f of store.listeners) f(changed, moved);
}

let generation = 0;

/** load reads the whole list, page by page; the first page is shown at once. */
export async function load() {
  const mine = ++generation;
  const first = await get(`/api/sessions?limit=200${store.all ? '&all=1' : ''}`);
  if (mine !== generation) return;
  take(first);
  let next = first.next, since = first.revision;
  while (next) {
    let page;
    try {
      page = await get(`/api/sessions?limit=1000&after=${next}&run=${store.run}${store.all ? '&all=1' : ''}`);
    } catch (e) {
      if (e.status === 410) return load(); // the row we stood at left the list
      throw e;
    }
    if (mine !== generation) return;
    for (const r of page.rows.map(adopt)) {
      if (!store.byID.has(r.asm_id)) store.rows.push(r);
      else store.rows[store.rows.findIndex(o => o.asm_id === r.asm_id)] = r;
      store.byID.set(r.asm_id, r);
    }
    store.total = page.total;
    tell(null, true);
    next = page.next;
  }
  store.complete = true;
  store.revision = since; // what moved between the pages comes with the next difference
  tell(null, true);
  return update();
}

function take(page) {
  store.rows = page.rows.map(adopt);
  store.byID = new Map(store.rows.map(r => [r.asm_id, r]));
  Object.assign(store, { revision: page.revision, run: page.run, total: page.total, loaded: true, complete: !page.next });
  tell(null, true);
}

let updating = null, again = false;

/** update asks what changed since the revision known. Calls that come meanwhile are one more call. */
export function update() {
  if (updating) { again = true; return updating; }
  updating = (async () => {
    do {
      again = false;
      if (!store.complete) return;
      const mine = generation;
      const d = await get(`/api/sessions?since=${store.revision}&run=${store.run}&limit=200${store.all ? '&all=1' : ''}`);
      if (mine !== generation) return;
      if (d.full) { await load(); return; }
      apply(d);
    } while (again);
  })().finally(() => { updating = null; });
  return updating;
}

/** apply puts a difference in: who left goes, who changed is put where the answer says. */
function apply(d) {
  store.revision = d.revision;
  store.total = d.total;
  const changed = new Map(d.rows.map(r => [r.asm_id, adopt(r)])), gone = new Set(d.gone);
  if (!changed.size && !gone.size) return;
  const before = store.rows;
  // Most differences change facts and move nobody: then the list stays the very same list.
  const still = d.rows.every(r => before[r.at] && before[r.at].asm_id === r.asm_id) && !d.gone.some(id => store.byID.has(id));
  if (still) {
    for (const r of d.rows) before[r.at] = r;
  } else {
    const rows = before.filter(r => !changed.has(r.asm_id) && !gone.has(r.asm_id));
    for (const r of d.rows) rows.splice(r.at, 0, r); // in ascending order of place
    store.rows = rows;
  }
  for (const id of gone) store.byID.delete(id);
  for (const [id, r] of changed) store.byID.set(id, r);
  tell(changed, !still);
}

/** setAll decides whether hidden sessions are known too. */
export function setAll(all) {
  if (store.all === all) return;
  store.all = all;
  load().catch(() => {}); // the poll notices when the tower is gone
}
