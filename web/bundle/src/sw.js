// The page without a network: keeps the files of one build in a cache of its name, and gives them
// out whole. In front of this text is written which build that is, and which files.
const {build, files} = self.podfate;
const prefix = 'podfate-';
const name = prefix + build;

const install = async () => (await caches.open(name)).addAll(files);

/** A build goes when the last page of it is closed: no page ever gets files of two. */
async function activate() {
  for (const key of await caches.keys()) if (key.startsWith(prefix) && key !== name) await caches.delete(key);
  await clients.claim();
}

/**
 * Pages come from the network as long as there is one: the server answers what their address asks.
 */
async function page(request, path) {
  try {
    return await fetch(request);
  } catch (error) {
    return await caches.match(path, {cacheName: name}) ?? Promise.reject(error);
  }
}

const file = async (request) => await caches.match(request, {cacheName: name}) ?? fetch(request);

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('fetch', (event) => {
  const {request} = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  const path = './' + url.pathname.slice(new URL('./', self.location.href).pathname.length);
  if (request.mode === 'navigate' || request.destination === 'document') {
    const known = files.includes(path) ? path : path === './index.html' ? './' : '';
    if (known) event.respondWith(page(request, known));
  } else if (files.some((f) => url.href === new URL(f, self.location.href).href)) {
    event.respondWith(file(request));
  }
});
