// Keys. They do nothing while something is typed or a dialog is open.
import { keyList } from './dialog.js';
import { step, press, escape, setText, launch, jumpHere } from './sessions.js';
import { flipTheme, viewOf } from './frame.js';

const places = { s: 'sessions', h: 'history', e: 'health' };

/** listen takes the keys of the whole page. */
export function listen() {
  const find = document.getElementById('find');
  let going = 0;
  find.addEventListener('input', () => {
    if (viewOf(location.hash) !== 'sessions') location.hash = 'sessions';
    setText(find.value);
  });
  find.addEventListener('keydown', e => {
    if (e.key === 'Escape') { if (find.value) { find.value = ''; setText(''); } else find.blur(); e.preventDefault(); }
    if (e.key === 'Enter' || e.key === 'ArrowDown') { e.preventDefault(); step(0); }
  });
  document.addEventListener('keydown', e => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input, textarea, select') || document.querySelector('dialog[open]')) return;
    const here = viewOf(location.hash) === 'sessions', onRow = e.target.matches('.s');
    if (going && e.timeStamp - going < 1500 && places[e.key]) { location.hash = places[e.key]; going = 0; e.preventDefault(); return; }
    going = e.key === 'g' ? e.timeStamp : 0;
    const act = { '/': () => { find.focus(); find.select(); }, '?': keyList, t: flipTheme, n: launch, Escape: () => here && escape() }[e.key] ||
      here && { j: () => step(1), k: () => step(-1), x: press, J: jumpHere }[e.key] ||
      here && onRow && { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: press, ' ': press, ArrowRight: () => e.target.getAttribute('aria-expanded') === 'false' && press(), ArrowLeft: () => e.target.getAttribute('aria-expanded') === 'true' && press() }[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  });
}
