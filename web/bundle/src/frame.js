// The page /embed, which other sites frame: it asks at once what its address asks, on this thread
// if the frame has no origin of its own.
import './embed.js';
import {decodeLink} from './link.js';

const host = document.querySelector('pod-fate');
try {
  if (/^#v\d/.test(location.hash)) {
    const form = await decodeLink(location.hash);
    host.querySelector('pre').textContent = form.manifest;
    host.querySelector('.reply')?.remove();
    host.setAttribute('exits', form.exits);
    if (form.version) host.setAttribute('k8s', form.version);
    if (form.proposals) host.setAttribute('proposal', form.proposals.join(' '));
    await host.run();
  }
} catch (error) {
  host.replaceChildren(Object.assign(document.createElement('p'), {textContent: error.message}));
}
document.documentElement.className = '';
