// Keep the page key, then move on by script: a redirect would lose the Strict cookie of this answer.
(function () {
  var d = document.getElementById('landing').dataset;
  try { localStorage.setItem('tower.key', d.key); } catch (e) { document.querySelector('p').textContent = 'This browser keeps nothing for this page, so it cannot be signed in. Allow local storage for this address.'; return; }
  location.replace(d.path);
})();
