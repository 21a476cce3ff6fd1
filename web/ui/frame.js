// The frame around the views: tabs, the note above them, theme, title, and what shows that the tower is there.
import { h, icon, put, no } from './dom.js';
import { setAccent } from './accent.js';
import { num, many, clockSeconds, span } from './words.js';

const tabs = [['sessions', 'Sessions'], ['history', 'History'], ['health', 'Health']];
const by = id => document.getElementById(id);
const begin = by('launch'), top = by('tabs'), dock = by('dock'), notes = by('notes'), main = by('main'), connection = by('link'), appname = by('appname');

const links = [];
for (const [bar, list] of [[top, tabs], [dock, tabs]]) {
  for (const [key, name] of list) {
    const waits = h('span', { class: 'tally hot', hidden: true }), count = h('span', { class: 'tally', hidden: true }), a = h('a', { href: '#' + key }, name, count, waits);
    bar.append(a);
    links.push({ key, a, count, waits });
  }
}

let view = 'sessions', waiting = 0, app = 'Tower', accent = '', downSince = 0, connected = null;

/** title is what the tab of the browser says: the number is of those who wait. */
function title() {
  const name = tabs.find(t => t[0] === view)[1], text = (downSince ? 'Down · ' : waiting ? '(' + waiting + ') ' : '') + name + ' · ' + app;
  if (document.title !== text) document.title = text;
}

/** viewOf reads a view's name out of the address. */
export const viewOf = hash => tabs.some(t => t[0] === hash.slice(1)) ? hash.slice(1) : 'sessions';

/** setView marks the current tab. */
export function setView(v) {
  view = v;
  for (const l of links) if (l.key === v) l.a.setAttribute('aria-current', 'page'); else l.a.removeAttribute('aria-current');
  title();
}

function tally(node, n, hidden, label) {
  put(node, num(n));
  node.hidden = hidden;
  node.setAttribute('aria-label', label);
}

/** frameLive takes what a poll tells of the whole. */
export function frameLive(l) {
  waiting = l.counts.waiting;
  app = l.name || 'Tower';
  put(appname, app);
  if (l.accent !== accent) setAccent(accent = l.accent);
  for (const k of links) {
    if (k.key === 'sessions') {
      tally(k.count, l.counts.live, !l.counts.live, num(l.counts.live) + ' live');
      tally(k.waits, waiting, !waiting, num(waiting) + (waiting === 1 ? ' waits' : ' wait') + ' for you');
    }
    if (k.key === 'health') {
      k.waits.className = 'tally sick';
      tally(k.waits, l.problems, !l.problems, many(l.problems, 'problem'));
    }
  }
  title();
  noteOf(l);
}

const importText = h('span'), importFill = h('i'), importNote = h('div', { class: 'no', role: 'status' }, icon('working'), h('span', null, importText, h('span', { class: 'bar' }, importFill)));
const newer = no('A newer Tower is on disk than the one running.', 'plain', ' Start it with ', h('span', { class: 'mono' }, 'tower restart'), '.');
const past = no('Tower does not run.', 'plain', ' This is what the ledger held when it was read; nobody can say what runs now.');
const testing = no('Testing mode.', 'plain', ' Nothing shared is written.');
const downText = h('span'), downNote = h('div', { class: 'no sick', role: 'alert' }, icon('bad'), downText);

function noteOf(l) {
  const list = [], i = l.import;
  if (downSince) list.push(downNote);
  if (troubled) list.push(troubleNote);
  if (i.running && i.first) {
    put(importText, i.total ? `First import: ${num(i.done)} of ${num(i.total)} transcripts read.` : 'First import: counting transcripts.');
    importFill.style.width = (i.total ? Math.floor(i.done * 100 / i.total) : 0) + '%';
    list.push(importNote);
  }
  if (l.disk_build) list.push(newer);
  if (l.as_of) list.push(past);
  if (l.mode === 'testing') list.push(testing);
  if (list.length !== notes.childNodes.length || list.some((n, k) => n !== notes.childNodes[k])) notes.replaceChildren(...list);
}

let last = null, troubled = false;
const troubleText = h('span'), troubleNote = h('div', { class: 'no sick', role: 'alert' }, icon('bad'), h('span', null, h('b', null, 'Not read.'), ' ', troubleText));

/** setTrouble shows what the tower answered instead of what was asked for; '' takes it away. */
export function setTrouble(text) {
  troubled = !!text;
  put(troubleText, text);
  if (last) noteOf(last); else notes.replaceChildren(...(troubled ? [troubleNote] : []));
}

/** setConnected shows whether the tower answers. since is when it stopped doing so. */
export function setConnected(ok, since, l) {
  last = l || last;
  downSince = ok ? 0 : since;
  if (connected !== ok) {
    connected = ok;
    connection.className = 'link ' + (ok ? 'ok' : 'off');
    connection.replaceChildren(icon(ok ? 'ok' : 'bad'), h('span', null, ok ? 'Connected' : 'Down'));
    connection.title = ok ? 'The tower answers; this page follows it' : 'The tower does not answer';
    main.classList.toggle('down', !ok);
    main.inert = !ok;
    begin.disabled = !ok;
    for (const bar of [top, dock]) bar.classList.toggle('down-now', !ok);
    title();
  }
  if (!ok) {
    if (last) noteOf(last); else notes.replaceChildren(downNote);
    frameTick(Date.now());
  }
}

/** frameTick repaints the one text of the frame that the clock changes. */
export function frameTick(now) {
  if (!downSince) return;
  const text = `${app} is down since ${clockSeconds(downSince)}`;
  const rest = ` (${span(now - downSince)}). ${last ? 'Below is the last picture; nothing on it can be pressed. ' : ''}Agents go on without it, and their events are kept for its return. Start it with `;
  if (downText.dataset.text !== text + rest) {
    downText.dataset.text = text + rest;
    downText.replaceChildren(h('b', null, text), rest, h('span', { class: 'mono' }, 'tower'), '. This page looks again every 5 s.');
  }
}

function setTheme(t) {
  document.documentElement.dataset.theme = t;
  setAccent(accent);
}

/** flipTheme changes light and dark and keeps the choice in this browser. */
export function flipTheme() {
  const t = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  try { localStorage.setItem('tower.theme', t); } catch { /* then it lasts as long as the page */ }
  setTheme(t);
}

by('theme').addEventListener('click', flipTheme);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', e => {
  let kept = null;
  try { kept = localStorage.getItem('tower.theme'); } catch { /* nothing kept */ }
  if (!kept && !new URLSearchParams(location.search).get('theme')) setTheme(e.matches ? 'dark' : 'light');
});
