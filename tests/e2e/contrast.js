// The texts of the page whose contrast with what is behind them is below 4.5, as WCAG 2.2 counts it
// (success criterion 1.4.3).
(() => {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], under) =>
    [r, g, b].map((channel, i) => channel * a + under[i] * (1 - a));
  function background(node) {
    const own = numbers(getComputedStyle(node).backgroundColor);
    if ((own[3] ?? 1) === 1) {
      return own.slice(0, 3);
    }
    return over(own, node.parentElement ? background(node.parentElement) : [255, 255, 255]);
  }
  function luminance(colour) {
    const [r, g, b] = colour.map((channel) => {
      const c = channel / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(node) {
    const behind = background(node);
    const [one, other] = [luminance(over(numbers(getComputedStyle(node).color), behind)),
      luminance(behind)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  }
  const isSeen = (node) => node.checkVisibility({ visibilityProperty: true });
  const hasText = (node) => [...node.childNodes].some((child) =>
    child.nodeType === Node.TEXT_NODE && child.data.trim());
  return [...document.body.querySelectorAll("*")]
    .filter((node) => hasText(node) && isSeen(node) && contrast(node) < 4.5)
    .map((node) => `${node.tagName} ${node.className} ${contrast(node).toFixed(2)} ` +
      node.textContent.slice(0, 40));
})()
