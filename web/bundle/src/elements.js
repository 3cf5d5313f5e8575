// Elements, and plans of them. A plan is {svg, name, attributes, children} of an element, {text}, or {key, row} of a row that is planned
// when it is needed. To compare two plans takes a small part of the time that it takes to make elements and to compare those, so only what
// differs is made. Text only ever becomes text nodes.

const svgElement = (name) => document.createElementNS('http://www.w3.org/2000/svg', name);

/** The plan of an element: a child is a plan, a text, a list of these, or nothing. Empty attributes are left out. */
export function plan(svg, name, given, children) {
  const attributes = {};
  for (const key in given) if (given[key] !== '' && given[key] !== undefined) attributes[key] = given[key];
  const of = {svg, name, attributes, children: []};
  add(of.children, children);
  return of;
}

function add(to, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(to, child);
    else if (child && typeof child === 'object') to.push(child);
    else if (child || child === 0) {
      if (to.at(-1)?.text === undefined) to.push({text: String(child)});
      else to.at(-1).text += child; // one text, as in a page that was sent
    }
  }
}

/** A plan as a node, which the plan remembers. */
export function made(of) {
  if (of.text !== undefined) return (of.node = document.createTextNode(of.text));
  if (of.row) unfold(of);
  const node = of.svg ? svgElement(of.name) : document.createElement(of.name);
  for (const key in of.attributes) node.setAttribute(key, of.attributes[key]);
  node.append(...of.children.map(made));
  return (of.node = node);
}

/** Plans a row. */
export function unfold(of) {
  Object.assign(of, of.row());
  of.row = undefined;
}

/** Sets a property that differs: even the same value makes a browser look at the element again. */
export function set(element, name, value) {
  if (element[name] !== value) element[name] = value;
}

/** An element with attributes and children; a child is a node, a text, a list of these, or nothing. */
export const h = (name, ...rest) => fill(document.createElement(name), ...rest);
export const s = (name, ...rest) => fill(svgElement(name), ...rest);

function fill(element, attributes, ...children) {
  for (const [key, value] of Object.entries(attributes)) if (value !== '') element.setAttribute(key, value);
  element.append(...children.flat(3).filter((child) => child || child === 0));
  return element;
}
