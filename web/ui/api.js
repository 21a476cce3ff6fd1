// Talking to the tower. The cookie goes by itself; the page key goes as a header.

const keyName = 'tower.key';

/** pageKey is what the log-in left in this browser, or null. */
export function pageKey() {
  try { return localStorage.getItem(keyName); } catch { return null; }
}

/** toLogin leaves for the page that says how to get in. */
export function toLogin() {
  location.replace('/login' + location.hash);
}

/** Fault is an answer that is not the one asked for. status 0 is no answer at all: the tower is down. */
export class Fault extends Error {
  constructor(status, body) {
    super(body.error || 'The tower did not answer.');
    this.status = status;
    this.hint = body.hint || '';
    this.refused = !!body.refused;
  }
  /** sentence is the whole of it, as every face shows it. */
  get sentence() { return this.hint ? this.message + ' ' + this.hint : this.message; }
}

async function ask(path, options, seconds) {
  let r;
  try {
    r = await fetch(path, { ...options, cache: 'no-store', credentials: 'same-origin', headers: { ...options.headers, 'X-Tower-Key': pageKey() || '' }, signal: seconds ? AbortSignal.timeout(seconds * 1000) : undefined });
  } catch (e) {
    throw new Fault(0, options.method && e.name === 'TimeoutError' ? { error: `The tower did not answer within ${seconds} s.`, hint: 'What was asked for may still happen: look before you ask again.' } : {});
  }
  if (r.status === 401) {
    toLogin();
    return new Promise(() => {}); // the page is on its way out; nobody gets an answer
  }
  let body;
  try { body = await r.json(); } catch { throw new Fault(r.ok ? 0 : r.status, {}); }
  if (!r.ok) throw new Fault(r.status, body);
  return body;
}

export const get = (path, seconds = 20) => ask(path, {}, seconds);
export const post = (path, body, seconds = 30) => ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body || {}) }, seconds);
