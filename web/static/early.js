/* Podfate, Apache-2.0. Packages in it: /static/licences.txt */
var e=document.documentElement;(/^#v\d/.test(location.hash)||location.search.slice(1)!==e.dataset.query||history.state?.kept)&&(e.className="opening");
