// Small helpers to write a page. All text goes in as text: names of processes are not ours. What
// stays the same is not written again: that keeps selections, and the page cheap.

export const at = (id) => document.getElementById(id);

// An element with a class, text and children.
export function make(name, className, ...children) {
  const node = document.createElement(name);
  if (className) {
    node.className = className;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Write a text. Nodes that are written with say() hold one text and nothing else.
export function say(node, text) {
  const child = node.firstChild;
  if (!child) {
    node.append(text);
  } else if (child.data !== text) {
    child.data = text;
  }
}

export function show(node, visible) {
  if (node.hidden === visible) {
    node.hidden = !visible;
  }
}

// Set data-NAME.
export function mark(node, name, value) {
  if (node.dataset[name] !== String(value)) {
    node.dataset[name] = value;
  }
}

// A list of children, one per item: made when there are more items, removed when there are fewer,
// and each updated with its item.
export function list(parent, items, create, update) {
  while (parent.children.length > items.length) {
    parent.lastElementChild.remove();
  }
  while (parent.children.length < items.length) {
    parent.append(create());
  }
  items.forEach((item, i) => update(parent.children[i], item));
}

// A bar, empty until setBar().
export function bar() {
  const node = make("span", "bar", make("i", ""));
  node.setAttribute("role", "img");
  return node;
}

// A share from 0 to 1; null is an empty bar that says so.
export function setBar(node, value, label) {
  const level = value === null ? "none" : value >= 0.9 ? "high" : value >= 0.6 ? "mid" : "low";
  const scale = `scaleX(${Math.max(0, Math.min(1, value ?? 0)).toFixed(3)})`;
  mark(node, "level", level);
  if (node.firstChild.style.transform !== scale) {
    node.firstChild.style.transform = scale;
    node.setAttribute("aria-label", label);
  }
}
