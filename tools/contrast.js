// The texts of a page whose colour is too near to the one under it (WCAG 2, level AA), as an object.
(() => {
  const parse = (text) => {
    const canvas = parse.canvas ||= new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
  const light = (c) => c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.unshift(parse(getComputedStyle(e).backgroundColor));
    return layers.reduce((under, layer) => over(layer, under), dark ? [18, 18, 18] : [255, 255, 255]);
  };
  const found = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim() || ["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT"].includes(element.tagName)) continue;
    if (!element.checkVisibility({opacityProperty: true, visibilityProperty: true}) || !element.getClientRects().length) continue;
    const under = ground(element), text = over(parse(style.color), under);
    const [a, b] = [light(text), light(under)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found[`${element.tagName}.${element.className}: ${style.color} on ${under.map(Math.round)}`] ||=
      `${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)}`;
  }
  return found;
})()
