// A link on another page opens this one without the Strict cookie although the browser is signed in:
// ask again from here, where the cookie is sent.
(function () {
  var key = null;
  try { key = localStorage.getItem('tower.key'); } catch (e) { /* storage switched off */ }
  if (!key) return;
  fetch('/api/live', { headers: { 'X-Tower-Key': key } }).then(function (r) { if (r.ok) location.replace('/' + location.hash); }, function () { /* the tower is down; the page stands as it is */ });
})();
