// The poll: one request waits at the tower until the revision moves. Everything the page shows follows it.
import { get } from './api.js';
import { store, load, update } from './store.js';

const waits = 25, gap = 250, unseen = 10000;
const backOff = [500, 1000, 2000, 5000];

const pause = ms => new Promise(done => {
  const end = () => { clearTimeout(t); document.removeEventListener('visibilitychange', look); done(); };
  const look = () => { if (!document.hidden) end(); };
  const t = setTimeout(end, ms);
  document.addEventListener('visibilitychange', look);
});

/** follow never ends. up(live) is called for every answer, down(since) when there is none, trouble(text) when it is an error. */
export async function follow(up, down, trouble) {
  let revision = -1, run = '', build = '', failed = 0, since = 0;
  for (;;) {
    try {
      // A page nobody looks at must not hold one of the few connections a browser has for an address.
      const wait = document.hidden ? 0 : waits;
      const l = await get('/api/live' + (revision < 0 || failed ? '' : `?since=${revision}&run=${run}&wait=${wait}`), wait + 10);
      if (build && l.build !== build) { location.reload(); return; }
      const moved = l.revision !== revision || l.run !== run, other = l.run !== run;
      ({ revision, run, build } = l);
      failed = since = 0;
      up(l);
      if (other || !store.loaded) await load(); else if (moved || store.revision !== revision) await update();
      await pause(document.hidden ? unseen : gap);
    } catch (f) {
      since = since || Date.now();
      failed++;
      if (f.status === undefined) console.error(f); // a mistake in this page, not an answer
      else if (f.status) trouble(f.sentence);
      else if (failed > 1) down(since); // one request may be cut off by a sleeping laptop; two are an answer
      await pause(backOff[Math.min(failed - 1, backOff.length - 1)]);
    }
  }
}
