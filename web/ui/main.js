// The page: which view is shown, and what every answer of the tower is given to.
import { setZone } from './words.js';
import { pageKey, toLogin } from './api.js';
import { sessionsView, sessionsLive, sessionsTick, sessionsShow, launch } from './sessions.js';
import { historyView, historyShow } from './history.js';
import { healthView, healthShow, healthHide } from './health.js';
import { frameLive, frameTick, setConnected, setTrouble, setView, viewOf } from './frame.js';
import { follow } from './live.js';
import { listen } from './keys.js';

const views = { sessions: sessionsView, history: historyView, health: healthView }, place = document.getElementById('main'), scrolled = {};
let current = '', told = null;

function go() {
  const next = viewOf(location.hash);
  if (next !== current) {
    scrolled[current] = scrollY;
    current = next;
    place.replaceChildren(views[next]);
    setView(next);
    scrollTo(0, scrolled[next] || 0);
  }
  if (next !== 'health') healthHide();
  if (!told) return;
  if (next === 'sessions') sessionsShow();
  if (next === 'history') historyShow(told);
  if (next === 'health') healthShow(told);
}

function up(l) {
  setZone(l.timezone);
  const first = !told, moved = first || l.revision !== told.revision || l.run !== told.run;
  told = l;
  setConnected(true, 0, l);
  setTrouble('');
  frameLive(l);
  sessionsLive(l);
  if (moved && current !== 'sessions') go();
}

if (pageKey()) {
  setZone('');
  addEventListener('hashchange', go);
  document.getElementById('skip').addEventListener('click', e => { e.preventDefault(); place.focus(); });
  document.getElementById('launch').addEventListener('click', launch);
  go();
  listen();
  setInterval(() => { if (!document.hidden) { const now = Date.now(); sessionsTick(now); frameTick(now); } }, 1000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) sessionsTick(Date.now()); });
  if (navigator.serviceWorker) navigator.serviceWorker.register('/worker.js').catch(() => { /* the page works without it */ });
  follow(up, since => setConnected(false, since), setTrouble);
} else {
  toLogin();
}
