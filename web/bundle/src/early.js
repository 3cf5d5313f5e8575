// Runs before anything is painted. The server answers the query of an address; what is after #
// and what a tab has kept it cannot see, and a copy of the page from a cache or a file host answers
// one query only. In all these cases the answer in the HTML is another question's, so it stays
// hidden until app.js has the right one.
const page = document.documentElement;
if (/^#v\d/.test(location.hash) || location.search.slice(1) !== page.dataset.query || history.state?.kept) page.className = 'opening';
