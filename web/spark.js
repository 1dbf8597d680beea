// A line of the last minutes, as high as a line of text: the shape of a load from 0 to 1.

const SVG = "http://www.w3.org/2000/svg";
const POINTS = 90;
const HEIGHT = 20;

export function spark() {
  const node = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path");
  node.setAttribute("class", "spark");
  node.setAttribute("viewBox", `0 0 ${POINTS} ${HEIGHT}`);
  node.setAttribute("preserveAspectRatio", "none");
  node.setAttribute("aria-hidden", "true");
  node.append(line);
  node.points = [];
  return node;
}

// What was before: the last of these values, or null where nothing is known.
export function sparkPast(node, values) {
  node.points = values.slice(-POINTS);
}

export function sparkPoint(node, value) {
  const points = node.points;
  let path = "";
  let pen = "M";
  points.push(value);
  if (points.length > POINTS) {
    points.shift();
  }
  points.forEach((y, i) => {
    if (y === null) {
      pen = "M";
      return;
    }
    const x = POINTS - points.length + i;
    path += `${pen}${x} ${(HEIGHT - 1 - Math.min(1, y) * (HEIGHT - 2)).toFixed(1)}`;
    pen = "L";
  });
  node.firstChild.setAttribute("d", path);
}
