// The virtual list. Only the rows in and around the window are in the document:
//
//	spacer      height of everything above
//	rows        the window and a few more on both sides
//	spacer      height of everything below
//
// layout() takes a new order and is the only full render; scrolling moves the window; painting touches
// cells. Nodes are kept by key, so a row that stays in the window is never built again.
import { h, narrow } from './dom.js';
import { header } from './row.js';

const beyond = 400; // pixels kept above and below the window

/** counters let a test see that nothing renders by itself. */
export const counters = { renders: 0, built: 0 };

/** makeList builds the grid. make(item) returns {node, paint, tick?, refresh?} for an item {key, kind}. */
export function makeList(make) {
  const above = h('div', { role: 'presentation' }), below = h('div', { role: 'presentation' }), body = h('div', { class: 'body', role: 'rowgroup' }, above, below);
  const node = h('div', { class: 'grid', role: 'grid', 'aria-label': 'Sessions', 'aria-colcount': 9 }, h('div', { role: 'rowgroup' }, header()), body);
  let items = [], tops = [0], mounted = new Map(), place = new Map();
  const opened = new Map(); // heights of what has been measured
  // Heights are given in rem, so that they grow with the type.
  const pixels = name => parseFloat(getComputedStyle(node).getPropertyValue(name)) * parseFloat(getComputedStyle(document.documentElement).fontSize);
  let rowh = 33, group = 27;

  const heightOf = it => it.kind === 'group' ? group : it.kind === 'open' ? opened.get(it.key) || 190 : rowh;

  /** sized reads the heights anew and tells whether they changed: the window got narrow, or the type larger. */
  function sized() {
    const was = rowh + group;
    rowh = pixels('--rowh') || 33;
    group = pixels('--gph') || 27;
    return was !== rowh + group;
  }

  function measure() {
    tops = new Array(items.length + 1);
    tops[0] = 0;
    for (let i = 0; i < items.length; i++) tops[i + 1] = tops[i] + heightOf(items[i]);
  }

  function at(y) {
    let lo = 0, hi = items.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (tops[mid + 1] <= y) lo = mid + 1; else hi = mid;
    }
    return lo;
  }

  const sizes = new ResizeObserver(list => {
    let moved = false;
    for (const e of list) {
      const key = e.target.dataset.key, height = e.borderBoxSize[0].blockSize;
      if (height && opened.get(key) !== height) { opened.set(key, height); moved = true; }
    }
    if (moved) { measure(); show(); }
  });

  /** show brings the nodes of the window into the document and takes the others out. */
  function show() {
    if (!node.isConnected) return;
    const box = body.getBoundingClientRect(), start = at(Math.max(0, -box.top - beyond)), end = Math.min(items.length, at(Math.max(0, innerHeight - box.top + beyond)) + 1);
    const keep = new Map();
    const had = document.activeElement, focused = had && body.contains(had) ? had.closest('[data-key]') : null;
    if (focused) {
      const i = place.get(focused.dataset.key);
      focused.classList.toggle('away', i == null || i < start || i >= end);
    }
    const past = n => { while (n && n.classList.contains('away')) n = n.nextSibling; return n; };
    let next = past(above.nextSibling);
    for (let i = start; i < end; i++) {
      const it = items[i];
      let m = mounted.get(it.key);
      if (!m) {
        m = make(it);
        m.node.dataset.key = it.key;
        counters.built++;
        if (it.kind === 'open') sizes.observe(m.node);
      }
      m.node.setAttribute('aria-rowindex', i + 2);
      keep.set(it.key, m);
      if (m.node === next) next = past(next.nextSibling); else body.insertBefore(m.node, next);
    }
    for (const [key, m] of mounted) {
      if (keep.has(key)) continue;
      if (m.node === focused && place.has(key)) { keep.set(key, m); continue; } // what has the focus stays
      sizes.unobserve(m.node);
      m.node.remove();
    }
    mounted = keep;
    if (focused && focused.isConnected && document.activeElement !== had) had.focus({ preventScroll: true }); // moving a node takes its focus
    above.style.height = (tops[start] || 0) + 'px';
    below.style.height = Math.max(0, tops[items.length] - tops[end]) + 'px';
  }

  let asked = 0;
  const soon = () => { if (!asked) asked = requestAnimationFrame(() => { asked = 0; show(); }); };
  addEventListener('scroll', soon, { passive: true });
  addEventListener('resize', () => { if (sized()) measure(); soon(); });

  return {
    node,
    get items() { return items; },
    layout(next) {
      counters.renders++;
      items = next;
      place = new Map(items.map((it, i) => [it.key, i]));
      sized();
      node.setAttribute('aria-rowcount', items.length + 1);
      measure();
      show();
    },
    show,
    get: key => mounted.get(key),
    each(f) { for (const [key, m] of mounted) f(key, m); },
    /** reveal scrolls an item into the window and returns what is mounted for it. */
    reveal(key) {
      const i = place.get(key);
      if (i == null) return null;
      const top = body.getBoundingClientRect().top + tops[i], bottom = top + heightOf(items[i]), head = 32, foot = narrow() ? 60 : 12;
      if (top < head) scrollBy(0, top - head - 30); else if (bottom > innerHeight - foot) scrollBy(0, bottom - innerHeight + foot);
      show();
      return mounted.get(key);
    },
  };
}
