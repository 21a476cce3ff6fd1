// The page when the tower is down: the document of the build last seen, never anything of /api.
const cache = 'tower-{{build}}';
self.addEventListener('install', e => e.waitUntil(caches.open(cache).then(c => c.add('/')).then(() => self.skipWaiting())));
self.addEventListener('activate', e => e.waitUntil(caches.keys().then(all => Promise.all(all.filter(n => n !== cache).map(n => caches.delete(n)))).then(() => self.clients.claim())));
self.addEventListener('fetch', e => {
  const u = new URL(e.request.url);
  if (e.request.method !== 'GET' || u.origin !== location.origin || u.pathname !== '/') return;
  e.respondWith(fetch(e.request).catch(() => caches.match('/')));
});
