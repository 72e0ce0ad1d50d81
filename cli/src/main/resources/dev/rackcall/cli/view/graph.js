// The graph: processes are boxes in layers, clients before their servers; connections are curves between them. Each host
// has a frame, one below the other. Only the numbers change from second to second; boxes move when a process or a channel
// comes or goes.

import { cut, cutMiddle, say, set, svg } from './format.js';

const WIDE = 640;
const PAD = 14;
const FRAME = 16;
const FRAME_TITLE = 22;
/** The width of a wide Latin letter there. */
const TITLE_LETTER = 7.2;
const BOX = { width: 176, height: 66, gap: 26, letters: 20 };
const COLUMN_GAP = { least: 210, most: 400 };
/** Between curves at a box: those that arrive have labels. */
const PORT = { from: 16, to: 38 };
/** With more curves than that, only the selected one has a label, and nothing moves. */
const MOST_LABELS = { wide: 40, narrow: 16 };
const DENSE_PORT = { from: 9, to: 9 };
const CHANNEL_LETTERS = 30;
const LOOP = 52;
/** Below a host's boxes, for curves that go around them. */
const AROUND = 50;
/** From one host's boxes to the next one's. */
const BAND = { wide: 2 * FRAME + FRAME_TITLE + 12, narrow: FRAME_TITLE + 44 };
const NARROW = { columns: 2, height: 58, gap: 58, between: 10 };

/** Gives each node a layer: clients first. Calls in a circle count in the direction in which they are met first. */
function layersOf(nodes, edges) {
  const targets = new Map(nodes.map((node) => [node.id, new Set()]));
  const called = new Set();
  for (const edge of edges) {
    if (edge.from !== edge.to) {
      targets.get(edge.from).add(edge.to);
      called.add(edge.to);
    }
  }
  const state = new Map();
  const finished = [];
  const visit = (id) => {
    state.set(id, 'open');
    for (const target of targets.get(id)) {
      if (state.get(target) === 'open') {
        targets.get(id).delete(target);
      } else if (!state.has(target)) {
        visit(target);
      }
    }
    state.set(id, 'done');
    finished.push(id);
  };
  const first = nodes.filter((node) => !called.has(node.id));
  [...first, ...nodes].forEach((node) => state.has(node.id) || visit(node.id));
  const layer = new Map(nodes.map((node) => [node.id, 0]));
  finished.reverse();
  for (const id of finished) {
    targets.get(id).forEach((target) => layer.set(target, Math.max(layer.get(target), layer.get(id) + 1)));
  }
  // A client that nobody calls stands next to its server.
  first.filter((node) => targets.get(node.id).size > 0).forEach((node) => layer.set(node.id,
    Math.min(...[...targets.get(node.id)].map((target) => layer.get(target))) - 1));
  // Other hosts stand outside of this one.
  const own = nodes.filter((node) => !node.elsewhere).map((node) => layer.get(node.id));
  const least = Math.min(0, ...own);
  const most = Math.max(0, ...own);
  nodes.filter((node) => node.elsewhere).forEach((node) => layer.set(node.id, node.elsewhere === 'client' ? least - 1 : most + 1));
  const all = [...new Set(layer.values())].sort((a, b) => a - b);
  const layers = all.map(() => []);
  nodes.forEach((node) => layers[all.indexOf(layer.get(node.id))].push(node));
  return layers;
}

/** Orders the nodes of each layer so that curves cross less: each near the mean place of its neighbours. */
function untangle(layers, edges) {
  const place = new Map();
  const note = () => layers.forEach((layer) => layer.forEach((node, i) => place.set(node.id, (i + 0.5) / layer.length)));
  note();
  for (let sweep = 0; sweep < 4; sweep++) {
    for (const layer of layers) {
      const mean = new Map(layer.map((node) => {
        const others = edges.filter((edge) => edge.from !== edge.to && (edge.from === node.id || edge.to === node.id))
          .map((edge) => place.get(edge.from === node.id ? edge.to : edge.from));
        return [node.id, others.length ? others.reduce((a, b) => a + b) / others.length : place.get(node.id)];
      }));
      layer.sort((a, b) => mean.get(a.id) - mean.get(b.id));
    }
    note();
  }
}

/** The host by whose frame a box lies. */
const bandOf = (node) => (node.elsewhere ? '' : node.host);

/** Boxes in columns, with room for labels between them. */
function wideLayout(layers, edges, width, isDense, bands, alone) {
  const port = isDense ? DENSE_PORT : PORT;
  const plain = edges.filter((edge) => edge.from !== edge.to);
  const boxes = new Map();
  const gap = layers.length < 2 ? 0 : Math.min(COLUMN_GAP.most, Math.max(COLUMN_GAP.least,
    (width - 2 * (PAD + FRAME) - layers.length * BOX.width) / (layers.length - 1)));
  const total = layers.length * BOX.width + (layers.length - 1) * gap;
  const left = Math.max(PAD + FRAME, (width - total) / 2);
  const columns = new Map(layers.flatMap((layer, column) => layer.map((node) => [node.id, column])));
  const layout = {
    boxes, frames: new Map(), letters: { name: BOX.letters, channel: CHANNEL_LETTERS },
    width: Math.max(width, left + total + PAD + FRAME), bottom: PAD + FRAME + FRAME_TITLE,
  };
  bands.forEach((band, index) => {
    const top = layout.bottom + (index > 0 ? BAND.wide : 0);
    const mine = layers.map((layer) => layer.filter((node) => bandOf(node) === band));
    const heights = mine.map((layer) => layer.reduce((y, node) => {
      const box = {
        node,
        width: BOX.width,
        height: Math.max(BOX.height, 14 + Math.max(...['from', 'to'].map((side) => plain.filter((edge) => edge[side] === node.id).length * port[side]))),
        loops: edges.filter((edge) => edge.from === node.id && edge.to === node.id).length,
      };
      box.y = y;
      boxes.set(node.id, box);
      return y + box.height + box.loops * LOOP + BOX.gap;
    }, 0) - BOX.gap);
    const tallest = Math.max(0, ...heights);
    mine.forEach((layer, column) => layer.forEach((node) => {
      const box = boxes.get(node.id);
      box.x = left + column * (BOX.width + gap);
      box.y += top + (tallest - heights[column]) / 2;
      box.column = column;
    }));
    const ids = new Set(mine.flat().map((node) => node.id));
    const isRound = plain.some((edge) => columns.get(edge.to) <= columns.get(edge.from) && (ids.has(edge.from) || ids.has(edge.to)));
    layout.bottom = top + tallest + (isRound ? AROUND : 0);
    placeAlone(layout, alone.filter((node) => bandOf(node) === band), false);
    layout.frames.set(band, layout.bottom);
  });
  const ports = (side, other) => {
    const found = new Map();
    boxes.forEach((box, id) => {
      const mine = plain.filter((edge) => edge[side] === id)
        .sort((a, b) => boxes.get(a[other]).y - boxes.get(b[other]).y || (a.key < b.key ? -1 : 1));
      mine.forEach((edge, i) => found.set(edge.key, box.y + box.height / 2 + (i - (mine.length - 1) / 2) * port[side]));
    });
    return found;
  };
  const starts = ports('from', 'to');
  const ends = ports('to', 'from');
  const curves = new Map();
  const looped = new Map();
  for (const edge of edges) {
    const from = boxes.get(edge.from);
    const to = boxes.get(edge.to);
    if (edge.from === edge.to) {
      const index = looped.get(edge.from) ?? 0;
      looped.set(edge.from, index + 1);
      const y = from.y + from.height;
      const low = y + 34 + index * LOOP;
      const x = from.x + from.width / 2;
      curves.set(edge.key, {
        path: `M${x + 60},${y}C${x + 80},${low} ${x - 80},${low} ${x - 60},${y + 2}`,
        tip: [x - 60, y + 2, 0, -1], label: [x, y + (low - y) * 0.75 + 2, 'middle'],
      });
      continue;
    }
    const [x1, y1, x2, y2] = [from.x + from.width, starts.get(edge.key), to.x - 2, ends.get(edge.key)];
    if (to.column > from.column) {
      // Flat where its label is.
      curves.set(edge.key, {
        path: `M${x1},${y1}C${x1 + gap * 0.3},${y1} ${x2 - gap * 0.95},${y2} ${x2},${y2}`,
        tip: [x2, y2, 1, 0], label: [x2 - 14, y2, 'end'],
      });
    } else {
      // Against the layers: around the boxes.
      const away = Math.min(gap, 150) * 0.8 + 40;
      const low = Math.max(from.y + from.height, to.y + to.height) + 40;
      curves.set(edge.key, {
        path: `M${x1},${y1}C${x1 + away},${low} ${x2 - away},${low} ${x2},${y2}`,
        tip: [x2, y2, 1, 0], label: [(x1 + x2) / 2, (y1 + 6 * low + y2) / 8, 'middle'],
      });
    }
  }
  const labels = [...curves.values()].map((curve) => curve.label[1] + PORT.to / 2);
  return { ...layout, curves, bottom: Math.max(layout.bottom, ...labels) };
}

/** Boxes in rows, two beside each other; labels hold the rate only. */
function narrowLayout(layers, edges, width, bands, alone) {
  const boxes = new Map();
  const boxWidth = Math.floor((width - 2 * (PAD - 4) - 2 * 8 - NARROW.between) / NARROW.columns);
  const layout = {
    boxes, boxWidth, frames: new Map(), letters: { name: Math.floor((boxWidth - 20) / 7.4) }, width, bottom: PAD + FRAME_TITLE + 8,
  };
  bands.forEach((band, index) => {
    let y = layout.bottom + (index > 0 ? BAND.narrow : 0);
    const rows = layers.map((layer) => layer.filter((node) => bandOf(node) === band)).filter((layer) => layer.length > 0);
    for (const nodes of rows) {
      for (let i = 0; i < nodes.length; i += NARROW.columns) {
        const row = nodes.slice(i, i + NARROW.columns);
        const rowWidth = row.length * boxWidth + (row.length - 1) * NARROW.between;
        row.forEach((node, column) => boxes.set(node.id, {
          node, x: (width - rowWidth) / 2 + column * (boxWidth + NARROW.between), y, width: boxWidth, height: NARROW.height,
        }));
        y += NARROW.height + (i + NARROW.columns < nodes.length ? 34 : NARROW.gap);
      }
    }
    layout.bottom = rows.length > 0 ? y - NARROW.gap : y;
    placeAlone(layout, alone.filter((node) => bandOf(node) === band), true);
    layout.frames.set(band, layout.bottom);
  });
  const curves = new Map();
  const port = (edge, side) => {
    const mine = edges.filter((other) => other[side] === edge[side] && (other.from !== other.to || side === 'from'));
    const box = boxes.get(edge[side]);
    return box.x + (box.width * (mine.indexOf(edge) + 1)) / (mine.length + 1);
  };
  for (const edge of edges) {
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
    const x1 = port(edge, 'from');
    const y1 = from.y + from.height;
    if (edge.from === edge.to) {
      curves.set(edge.key, { path: `M${x1},${y1}c30,34 -60,34 -30,1`, tip: [x1 - 30, y1, 0, -1], label: [x1 - 15, y1 + 30, 'middle'] });
    } else {
      const x2 = port(edge, 'to');
      const down = to.y > from.y;
      const y2 = down ? to.y - 2 : to.y + to.height + 2;
      const bend = down ? Math.max(24, (y2 - y1) / 2) : 44;
      curves.set(edge.key, {
        path: `M${x1},${y1}C${x1},${y1 + bend} ${x2},${down ? y2 - bend : y2 + bend} ${x2},${y2}`,
        tip: [x2, y2, 0, down ? 1 : -1], label: [x1 + (x2 - x1) * 0.1, y1 + 22, 'middle'],
      });
    }
  }
  return { ...layout, curves };
}

/** Puts boxes without curves in rows below. */
function placeAlone(layout, nodes, isNarrow) {
  if (nodes.length === 0) {
    return;
  }
  const { width, height, gap } = isNarrow ? { width: layout.boxWidth, height: NARROW.height, gap: NARROW.between } : BOX;
  const room = layout.width - 2 * (PAD + (isNarrow ? 0 : FRAME));
  const columns = Math.max(1, Math.floor((room + gap) / (width + gap)));
  nodes.forEach((node, i) => {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, nodes.length - row * columns);
    const left = (layout.width - inRow * width - (inRow - 1) * gap) / 2;
    layout.boxes.set(node.id, {
      node, width, height, x: left + (i % columns) * (width + gap), y: layout.bottom + 10 + row * (height + 10),
    });
  });
  layout.bottom += 10 + Math.ceil(nodes.length / columns) * (height + 10);
}

function arrow([x, y, dx, dy]) {
  const [bx, by] = [x - dx * 8, y - dy * 8];
  return `M${x},${y}L${bx - dy * 4},${by - dx * 4}L${bx + dy * 4},${by + dx * 4}Z`;
}

export class Graph {
  /** @param select called with 'process' or 'connection' and an id */
  constructor(container, select) {
    this.container = container;
    this.select = select;
    this.built = '';
    this.model = null;
    new ResizeObserver(() => this.model && this.update(this.model)).observe(container);
  }

  /** Shows {hosts, nodes, edges}, whose selected parts say so. */
  update(model) {
    this.model = model;
    const width = this.container.clientWidth;
    const structure = JSON.stringify([width, model.hosts, model.nodes.map((node) => node.id), model.edges.map((edge) => edge.key)]);
    if (structure !== this.built && width > 0) {
      this.built = structure;
      this.build(width);
    }
    if (this.built) {
      model.nodes.forEach((node) => this.showNode(node));
      model.edges.forEach((edge) => this.showEdge(edge));
    }
  }

  build(width) {
    const focused = document.activeElement?.closest?.('[data-key]')?.dataset.key;
    const { nodes, edges, hosts } = this.model;
    this.parts = new Map();
    if (nodes.length === 0) {
      this.container.replaceChildren();
      return;
    }
    const connected = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
    const layers = layersOf(nodes.filter((node) => connected.has(node.id)), edges);
    untangle(layers, edges);
    this.narrow = width < WIDE;
    const isDense = edges.length > (this.narrow ? MOST_LABELS.narrow : MOST_LABELS.wide);
    const alone = nodes.filter((node) => !connected.has(node.id));
    const framed = alone.filter((node) => !node.elsewhere);
    const filled = new Set([...layers.flat(), ...framed].map(bandOf));
    const bands = hosts.map(({ key }) => key).filter((key) => filled.has(key));
    const layout = this.narrow ? narrowLayout(layers, edges, width, bands, framed) : wideLayout(layers, edges, width, isDense, bands, framed);
    layout.bottom += FRAME;
    placeAlone(layout, alone.filter((node) => node.elsewhere), this.narrow);
    layout.height = layout.bottom + PAD;
    this.letters = layout.letters;
    const picture = svg('svg', { width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}`, role: 'group', class: isDense ? 'dense' : '' });
    picture.append(...hosts.map((host) => this.frame(layout, host)));
    const above = svg('g');
    edges.forEach((edge) => {
      const curve = layout.curves.get(edge.key);
      picture.append(this.curve(edge, curve));
      above.append(this.label(edge, curve));
    });
    nodes.forEach((node) => picture.append(this.box(node, layout.boxes.get(node.id))));
    picture.append(above);
    this.container.replaceChildren(picture);
    if (focused) {
      this.parts.get(focused)?.group.focus({ preventScroll: true });
    }
  }

  /** A host's border. */
  frame(layout, { key, name, isSilent, isOld }) {
    const own = [...layout.boxes.values()].filter(({ node }) => !node.elsewhere && node.host === key);
    if (own.length === 0) {
      return svg('g');
    }
    const margin = this.narrow ? 8 : FRAME;
    const x = Math.min(...own.map((box) => box.x)) - margin;
    const right = Math.max(...own.map((box) => box.x + box.width)) + margin;
    const y = Math.min(...own.map((box) => box.y)) - margin - FRAME_TITLE + 4;
    const title = svg('text', { x: x + 12, y: y + 18, class: 'host' });
    const state = isSilent ? ': no answer' : isOld ? ': old' : '';
    title.textContent = `host ${cut(name, Math.floor((right - x - 24) / TITLE_LETTER) - 'host '.length - state.length)}${state}`;
    return svg('g', { class: isSilent ? 'frame bad' : 'frame' }, svg('rect', { x, y, width: right - x, height: layout.frames.get(key) + margin - y, rx: 14 }), title);
  }

  clickable(element, kind, id, key) {
    const choose = () => this.select(kind, id());
    element.setAttribute('data-key', key);
    element.addEventListener('click', choose);
    element.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        choose();
      }
    });
    return element;
  }

  box(node, box) {
    const middle = box.height / 2;
    const part = {
      title: svg('text', { x: 12, y: middle - 11, class: 'name' }),
      pid: svg('text', { x: 12, y: middle + 6, class: 'small' }),
      rates: svg('text', { x: 12, y: middle + 22, class: 'small numbers' }),
      tip: svg('title'),
    };
    part.group = svg('g', { transform: `translate(${box.x},${box.y})` },
      part.tip, svg('rect', { width: box.width, height: box.height, rx: 10 }), part.title, part.pid, part.rates);
    if (!node.pid) {
      part.group.removeAttribute('tabindex');
    } else {
      part.group.setAttribute('tabindex', 0);
      part.group.setAttribute('role', 'button');
      this.clickable(part.group, 'process', () => node.process, node.id);
    }
    this.parts.set(node.id, part);
    return part.group;
  }

  curve(edge, curve) {
    const part = {
      line: svg('path', { d: curve.path, class: 'line' }),
      flow: svg('path', { d: curve.path, class: 'flow' }),
      arrow: svg('path', { d: arrow(curve.tip), class: 'arrow' }),
      tip: svg('title'),
    };
    part.group = svg('g', { tabindex: 0, role: 'button' }, part.tip, svg('path', { d: curve.path, class: 'hit' }), part.line, part.flow, part.arrow);
    part.connection = edge.connection;
    this.clickable(part.group, 'connection', () => part.connection, edge.key);
    this.parts.set(edge.key, part);
    return part.group;
  }

  label(edge, curve) {
    const part = this.parts.get(edge.key);
    const [x, y, anchor] = curve.label;
    part.channel = svg('text', { y: this.narrow ? 0 : -5, class: 'channel' });
    part.numbers = svg('text', { y: 14, class: 'small numbers' });
    part.label = svg('g', { transform: `translate(${x},${y})`, 'text-anchor': anchor }, part.channel, ...(this.narrow ? [] : [part.numbers]));
    part.label.addEventListener('click', () => this.select('connection', part.connection));
    return part.label;
  }

  showNode(node) {
    const part = this.parts.get(node.id);
    if (!part) {
      return;
    }
    set(part.group, 'class', `node ${node.tone}${node.selected ? ' selected' : ''}`);
    say(part.title, cut(node.title, this.letters.name));
    say(part.pid, this.narrow ? node.short : node.sub);
    say(part.rates, this.narrow ? node.shortNumbers : node.numbers);
    say(part.tip, `${node.title} ${node.sub}`);
    set(part.group, 'aria-label', `${node.title}, ${node.sub}, ${node.numbers}`);
  }

  showEdge(edge) {
    const part = this.parts.get(edge.key);
    if (!part) {
      return;
    }
    part.connection = edge.connection;
    const style = `${edge.tone}${edge.selected ? ' selected' : ''}`;
    set(part.group, 'class', `edge ${style}`);
    set(part.group, 'aria-label', `${edge.channel}, ${edge.numbers}`);
    set(part.label, 'class', `label ${style}`);
    set(part.line, 'stroke-width', edge.width);
    set(part.flow, 'class', `flow ${edge.speed}`);
    say(part.tip, `${edge.channel} ${edge.numbers}`);
    say(part.channel, this.narrow ? edge.short : cutMiddle(edge.channel, this.letters.channel));
    say(part.numbers, edge.numbers);
  }
}
