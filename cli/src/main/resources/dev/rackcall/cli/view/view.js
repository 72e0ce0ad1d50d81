// Follows the server: asks for the next second, and shows it.

import * as format from './format.js';
import { Charts, Sparkline } from './charts.js';
import { Graph } from './graph.js';

const { html, say } = format;
const MOST_POINTS = 300;
const WINDOW_MILLIS = 300_000;
const LATE_MILLIS = 3000;
const RETRY_MILLIS = 1000;
const ANSWER_MILLIS = 10_000;
const RACK_MILLIS = 3000;
/** With an agent's second and the pause between questions to it, a death on another host shows within two seconds. */
const OTHERS_MILLIS = 400;
const MOST_HOSTS = 12;
/** More connections between two processes are one curve. */
const MOST_CURVES = 4;

const find = (id) => document.getElementById(id);

/** How a state looks, and what it means. */
const STATES = {
  open: ['open', ''],
  draining: ['warn', 'The server still takes requests, and asks clients to leave.'],
  ended: ['ended', 'The server takes no more requests.'],
  'no news': ['ended', "Its host's agent does not answer; this was known last."],
  old: ['ended', 'These numbers are not current; new ones follow when the agent answers.'],
  closed: ['ended', 'Its processes have closed it.'],
  'server gone': ['bad', 'The server process is dead.'],
  'client gone': ['bad', 'The client process is dead.'],
  invalid: ['bad', 'Its memory makes no sense; a process may have overwritten it.'],
};

const TRANSPORTS = {
  HOST: "this host's memory",
  PROCESS: 'the memory of one process',
  POOL: 'the memory of a pool',
  RDMA: 'RDMA: the other end has memory of its own',
  RDMA_QUEUES: 'virtual queues over RDMA: the other end has memory of its own',
  TCP: 'TCP: the other end has memory of its own',
  TCP_QUEUES: 'virtual queues over TCP: the other end has memory of its own',
  REMOTE: 'RDMA or TCP: the other end has memory of its own',
  GRPC: "gRPC over this host's memory",
  GRPC_REMOTE: 'gRPC over RDMA or TCP: the other end has memory of its own',
};

/** The numbers shown for a connection while its host reports nothing new. */
const NO_NUMBERS = { requestsPerSecond: 0, meanMicros: null, p50Micros: null, p99Micros: null, inFlight: 0, sleepingCallers: 0 };
/** What the memory of a connection of rackcall-grpc does not tell. */
const NOT_OF_GRPC = ['Callers asleep', 'Waits', "Server's polling", 'Slots', 'Arenas'];
const isOfGrpc = (row) => row.transport.startsWith('GRPC');
const NO_WAITS = { yields: 0, sleeps: 0, slots: 0, pauses: 0 };

/** Where the other end may be on another host: how its calls travel. */
const WAYS = { POOL: 'pool memory', RDMA: 'RDMA', RDMA_QUEUES: 'RDMA', TCP: 'TCP', TCP_QUEUES: 'TCP', REMOTE: 'RDMA or TCP', GRPC_REMOTE: 'gRPC over RDMA or TCP' };

/** What this host's last second was. */
let state = null;
/** What a directory says; null without one. */
let rack = null;
/** What the agents of other hosts have told last: {key, state, isOld}. */
let others = [];
/** The version of the hosts' numbers that the page has. */
let othersVersion = '';
/**
 * The processes and connections of all hosts. Each has its host's key, which is empty for this host; ids of other hosts'
 * begin with it.
 */
let all = { processes: [], connections: [] };
/** What is shown in the details: {kind: 'connection' or 'process', id}. */
let selection = null;
let sort = { column: 'rate', down: true };
let lastMillis = performance.now();
const series = new Map();

const toneOf = (row) => (STATES[row.state] ?? ['bad', ''])[0];
const isIdle = (row) => row.requestsPerSecond <= 0;

// --- Numbers of the last minutes --------------------------------------------------------------------------------------

function remember(connection, millis) {
  const { row, goneSeconds } = connection;
  if (!series.has(row.id)) {
    series.set(row.id, { times: [], rate: [], mean: [], p50: [], p99: [], inFlight: [] });
  }
  const each = series.get(row.id);
  // A gap is drawn as one.
  if (each.times.length > 0 && millis - each.times.at(-1) > 2 * LATE_MILLIS) {
    add(each, each.times.at(-1) + 1, null);
  }
  add(each, millis, goneSeconds == null && row.invalid == null ? row : null);
}

/** Adds the numbers of a row, or a gap. */
function add(each, millis, row) {
  each.times.push(millis);
  each.rate.push(row && row.requestsPerSecond);
  each.mean.push(row && row.meanMicros);
  each.p50.push(row && row.p50Micros);
  each.p99.push(row && row.p99Micros);
  each.inFlight.push(row && row.inFlight);
  while (each.times.length > MOST_POINTS || each.times[0] < millis - WINDOW_MILLIS) {
    Object.values(each).forEach((list) => list.shift());
  }
}

async function loadHistory() {
  const answer = await fetch('history');
  if (answer.ok) {
    fill('', await answer.json());
  }
}

async function loadOtherHistory() {
  const answer = await fetch('hosts-history', { signal: AbortSignal.timeout(ANSWER_MILLIS) });
  if (answer.ok) {
    Object.entries(await answer.json()).forEach(([key, each]) => fill(key, each));
  }
}

function fill(key, { times, connections }) {
  const first = times.findLastIndex((millis, i) => i === 0 || millis < times.at(-1) - WINDOW_MILLIS);
  for (const [id, numbers] of Object.entries(connections)) {
    const lists = Object.entries({ times, ...numbers }).map(([field, list]) => [field, list.slice(first)]);
    series.set(idAt(key, id), Object.fromEntries(lists));
  }
}

// --- All hosts --------------------------------------------------------------------------------------------------------

/** Why a host's agent is silent; null if it is not, or has not been asked since this page was opened. */
const silenceOf = ({ isOld, state: { sequence, problem } }) => (sequence > 0 && !isOld ? problem : null);

const idAt = (key, id) => (key === '' ? String(id) : `${key} ${id}`);

/** The processes and connections of a host. */
function partsOf(key, { processes, connections }) {
  return {
    processes: processes.map((each) => ({ ...each, host: key, id: idAt(key, each.row.pid) })),
    connections: connections.map((each) => ({ ...each, host: key, row: { ...each.row, id: idAt(key, each.row.id) } })),
  };
}

function merge() {
  const parts = [...(state ? [partsOf('', state)] : []), ...others.map((other) => partsOf(other.key, other.state))];
  all = { processes: parts.flatMap((each) => each.processes), connections: parts.flatMap((each) => each.connections) };
}

/** A host that has told nothing new, with what was known last, and why in the state of its connections. */
function still(other, { processes, connections }, why) {
  return {
    ...other,
    state: {
      ...other.state,
      processes: processes.map((each) => ({ ...each, row: { ...each.row, servedPerSecond: 0, sentPerSecond: 0 } })),
      connections: connections.map((each) => ({ ...each, row: { ...each.row, ...NO_NUMBERS, state: why, waits: { ...NO_WAITS } } })),
    },
  };
}

const isStill = ({ state: why }) => why === 'no news' || why === 'old';

/** The hosts with their names, this one first. */
function hosts() {
  return [{ key: '', name: format.name(state.host) }, ...others.map((other) => (
    { key: other.key, name: format.name(other.state.host), isSilent: silenceOf(other) != null, isOld: other.isOld }))];
}

const whereText = (key) => (key === '' ? '' : ` on ${hosts().find((host) => host.key === key)?.name}`);

/** The connections of other hosts that have this end of a connection's channel, and go to another host. */
function remoteEnds(row, side, host) {
  const other = side === 'client' ? 'server' : 'client';
  return all.connections.filter((each) => each.row.channel === row.channel && isOfGrpc(each.row) === isOfGrpc(row) && each.host !== host
    && each.row[`${side}Pid`] != null
    && each.row[`${other}Pid`] == null && WAYS[each.row.transport]);
}

/** The process at that end, if all these connections have the same one. */
function only(connections, side) {
  const ids = new Set(connections.map((each) => idAt(each.host, each.row[`${side}Pid`])));
  return ids.size === 1 ? [...ids][0] : null;
}

/** The process at the other end, if only one can be: {id, isDrawn}, with whether the other end's host draws the curve. */
function joined({ row, host }, side) {
  if (!WAYS[row.transport]) {
    return null;
  }
  const ends = remoteEnds(row, side, host);
  const isSilent = (each) => isStill(each.row);
  if (side === 'server') {
    const id = only(ends, side);
    const isOneClients = only(remoteEnds(row, 'client', null), 'client') != null;
    return id == null ? null : { id, isDrawn: isOneClients && isSilent({ row }) && !ends.some(isSilent) };
  }
  // Each client's host draws its curves, if all lead here and there are as many as this server has.
  const servers = remoteEnds(row, 'server', null);
  if (only(servers, 'server') == null || ends.length < servers.length) {
    return null;
  }
  return { id: only(ends, side), isDrawn: !ends.some(isSilent) };
}

/** Whether the host of its other end shows the same connection. */
function isShownThere(connection) {
  return ['client', 'server'].some((side) => connection.row[`${side}Pid`] == null && joined(connection, side)?.isDrawn);
}

// --- The graph --------------------------------------------------------------------------------------------------------

/** A process's name and pid. */
function textOf(id) {
  const node = all.processes.find((each) => each.id === id);
  return node ? `${format.name(node.row.name)} ${node.row.pid}${whereText(node.host)}` : `? ${id.split(' ').at(-1)}`;
}

function processNode({ row, hasEnded, host, id }) {
  const invalid = all.connections.filter((each) => each.host === host && each.row.invalid != null && each.row.holders.includes(row.pid)).length;
  const numbers = [];
  if (row.serves > 0) {
    numbers.push(`serves ${format.shortRate(row.servedPerSecond)}/s`);
  }
  if (row.calls > 0) {
    numbers.push(`sends ${format.shortRate(row.sentPerSecond)}/s`);
  }
  const problem = hasEnded ? 'dead' : invalid > 0 ? format.plural(invalid, 'invalid page') : '';
  const isBoth = row.serves > 0 && row.calls > 0;
  const short = isBoth ? `in ${format.shortRate(row.servedPerSecond)}, out ${format.shortRate(row.sentPerSecond)}/s` : numbers.join();
  return {
    id: `process ${id}`,
    process: id,
    host,
    pid: row.pid,
    title: format.name(row.name),
    sub: hasEnded ? `pid ${row.pid}` : `pid ${row.pid}, ${format.bytes(row.memoryBytes)}`,
    short: `pid ${row.pid}`,
    numbers: problem || numbers.join(', ').replace('/s,', ',') || 'no connection',
    shortNumbers: problem || short || 'no connection',
    tone: problem ? 'bad' : row.serves + row.calls > 0 ? '' : 'alone',
    selected: selection?.kind === 'process' && selection.id === id,
  };
}

/** The other hosts of the rack, by their names: each with its servers. */
function otherHosts() {
  const hosts = new Map();
  (rack?.servers ?? []).filter((server) => !server.isHere)
    .forEach((server) => hosts.set(server.host, [...(hosts.get(server.host) ?? []), server]));
  return hosts;
}

/** Those of them that tell no numbers. */
const unseenHosts = () => [...otherHosts()].filter(([name]) => !others.some((other) => other.state.host === name));

function hostNode(host, servers) {
  const title = format.name(host);
  const count = format.plural(servers.length, 'server');
  const numbers = others.some((other) => other.state.host === host) ? 'numbers below' : 'no live numbers';
  return {
    id: `host ${host}`, elsewhere: 'server', title: `host ${title}`, sub: `${count}, by the directory`, short: count,
    numbers, shortNumbers: numbers, tone: 'elsewhere',
  };
}

/** A host whose agent tells nothing, or no process. */
function emptyHostNode(other) {
  const { key, state: each, isOld } = other;
  const isSilent = silenceOf(other) != null;
  const numbers = isSilent ? 'no answer' : isOld ? 'old' : each.sequence === 0 ? 'not asked yet' : 'no process';
  return {
    id: `agent ${key}`, elsewhere: 'server', title: `host ${format.name(each.host)}`, sub: 'by its agent', short: 'by its agent',
    numbers, shortNumbers: numbers, tone: isSilent ? 'bad' : 'elsewhere',
  };
}

/** Another end, where it is not a process that can be seen. */
function otherEnd(connection, side) {
  const { row, host } = connection;
  const way = WAYS[row.transport];
  if (way) {
    const serving = side === 'client' ? [] : [...otherHosts()]
      .filter(([name]) => host === '' || name !== others.find((other) => other.key === host)?.state.host)
      .filter(([, servers]) => servers.some((server) => server.channel === row.channel));
    if (serving.length === 1) {
      return hostNode(...serving[0]);
    }
    return {
      id: `elsewhere ${side} ${way}`, elsewhere: side, title: 'another host', sub: `over ${way}`, short: way,
      numbers: '', shortNumbers: '', tone: 'elsewhere',
    };
  }
  const gone = row.state === `${side} gone`;
  return {
    id: `unseen ${idAt(host, side)} ${gone}`, host, title: gone ? `a dead ${side}` : `a ${side}`, sub: gone ? 'died before this page was opened' : "another user's process, or unknown",
    short: gone ? 'dead' : 'not visible', numbers: '', shortNumbers: '', tone: gone ? 'bad' : 'elsewhere',
  };
}

function worst(tones) {
  return ['bad', 'warn', 'open', 'ended'].find((tone) => tones.includes(tone)) ?? 'open';
}

function graphModel() {
  const connections = shown();
  const wanted = new Set(connections.flatMap(({ row, host }) => [row.clientPid, row.serverPid, ...row.holders].map((pid) => idAt(host, pid))));
  const nodes = new Map();
  const showProcess = (each) => nodes.set(`process ${each.id}`, processNode(each));
  all.processes.filter((each) => filter() === '' || wanted.has(each.id)).forEach(showProcess);
  others.filter((other) => other.state.processes.length === 0).map(emptyHostNode).forEach((node) => nodes.set(node.id, node));
  unseenHosts().slice(0, MOST_HOSTS).map((each) => hostNode(...each)).forEach((node) => nodes.set(node.id, node));
  const groups = new Map();
  for (const connection of connections) {
    const { row, host } = connection;
    // A curve needs a process that is known.
    if (row.invalid != null || (row.clientPid == null && row.serverPid == null)) {
      continue;
    }
    if (isShownThere(connection)) {
      continue;
    }
    // Over RDMA a server's memory names its client's process as little as the other way round.
    const ends = ['client', 'server'].map((side) => {
      const pid = row[`${side}Pid`];
      const id = pid == null ? joined(connection, side)?.id : idAt(host, pid);
      const process = all.processes.find((each) => each.id === id);
      if (process) {
        showProcess(process);
        return `process ${id}`;
      }
      const other = otherEnd(connection, side);
      nodes.set(other.id, other);
      return other.id;
    });
    const pair = `${ends[0]}>${ends[1]}`;
    groups.set(pair, groups.get(pair) ?? { ends, channels: new Map() });
    const { channels } = groups.get(pair);
    channels.set(row.channel, [...(channels.get(row.channel) ?? []), row]);
  }
  const edges = [];
  for (const [pair, { ends, channels }] of groups) {
    if (channels.size <= MOST_CURVES) {
      channels.forEach((rows, channel) => edges.push(edge(`${pair}:${channel}`, ends, format.name(channel), rows)));
    } else {
      edges.push(edge(pair, ends, `${channels.size} channels`, [...channels.values()].flat()));
    }
  }
  // Pairs keep their places, whichever is busier.
  edges.sort((a, b) => (a.key < b.key ? -1 : 1));
  const list = [...nodes.values()].sort((a, b) => (a.pid ?? 0) - (b.pid ?? 0));
  return { hosts: hosts(), nodes: list, edges };
}

function edge(key, [from, to], channel, rows) {
  const total = rows.reduce((sum, row) => sum + row.requestsPerSecond, 0);
  const inFlight = rows.reduce((sum, row) => sum + row.inFlight, 0);
  const mean = rows.some((row) => row.meanMicros != null) && total > 0 ? (inFlight / total) * 1e6 : null;
  const tone = worst(rows.map(toneOf));
  const states = [...new Set(rows.map((row) => row.state).filter((each) => each !== 'open'))];
  const ways = [...new Set(rows.map((row) => WAYS[row.transport]).filter((each) => each))];
  const live = [`${format.rate(total)}/s`, ...(mean == null ? [] : [format.micros(mean)]), `${format.average(inFlight)} in flight`, ...ways].join(' · ');
  const chosen = rows.find((row) => selection?.kind === 'connection' && row.id === selection.id);
  return {
    key,
    from,
    to,
    channel: rows.length > 1 ? `${channel} ×${rows.length}` : channel,
    numbers: states.length > 0 ? `${states.join(', ')}${total > 0 ? ` · ${format.rate(total)}/s` : ''}` : live,
    short: tone === 'bad' ? 'gone' : tone === 'ended' ? rows.find(isStill)?.state ?? 'closed' : `${format.shortRate(total)}/s`,
    tone: tone === 'open' && total <= 0 ? 'idle' : tone,
    speed: total <= 0 ? '' : total < 100 ? 'slow' : total < 10_000 ? 'middle' : 'fast',
    width: (1.5 + 0.55 * Math.log10(1 + total)).toFixed(1),
    selected: chosen !== undefined,
    connection: (chosen ?? rows[0]).id,
  };
}

// --- The table --------------------------------------------------------------------------------------------------------

const COLUMNS = [
  { id: 'channel', title: 'Channel', value: ({ row }) => row.channel, text: true },
  { id: 'ends', title: 'Client → server', value: ({ row }) => row.serverPid ?? 0, text: true },
  { id: 'state', title: 'State', value: ({ row }) => row.state, text: true },
  { id: 'trend', title: '5 minutes' },
  { id: 'rate', title: 'Requests/s', value: ({ row }) => row.requestsPerSecond },
  { id: 'mean', title: 'Mean', value: ({ row }) => row.meanMicros ?? -1 },
  { id: 'p50', title: 'p50', value: ({ row }) => row.p50Micros ?? -1 },
  { id: 'p99', title: 'p99', value: ({ row }) => row.p99Micros ?? -1 },
  { id: 'inFlight', title: 'In flight', value: ({ row }) => row.inFlight },
  { id: 'asleep', title: 'Asleep', value: ({ row }) => row.sleepingCallers },
  { id: 'memory', title: 'Memory', value: ({ row }) => row.memoryBytes },
];
const rows = new Map();
/** Drawing the lines of rows that nobody sees would cost most of a second's work. */
const visible = new Set();
const sight = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
  const { id } = target.dataset;
  if (isIntersecting) {
    visible.add(id);
    showSpark(id);
  } else {
    visible.delete(id);
  }
}));

function showSpark(id) {
  if (rows.has(id) && series.has(id)) {
    rows.get(id).spark.show(series.get(id));
  }
}

function buildHead() {
  const head = document.querySelector('#connections thead tr');
  for (const column of COLUMNS) {
    const cell = html('th', { class: column.id, scope: 'col' });
    if (column.value) {
      const button = html('button', { type: 'button' }, column.title);
      button.addEventListener('click', () => {
        sort = { column: column.id, down: sort.column === column.id ? !sort.down : !column.text };
        showTable();
      });
      cell.append(button);
    } else {
      cell.append(column.title);
    }
    column.head = cell;
    head.append(cell);
  }
}

function endText(connection, side) {
  const pid = connection.row[`${side}Pid`];
  const id = pid == null ? joined(connection, side)?.id : idAt(connection.host, pid);
  return id == null ? otherEnd(connection, side).title : textOf(id);
}

const holdersText = ({ row, host }) => row.holders.map((pid) => textOf(idAt(host, pid))).join(', ');

function makeRow(id) {
  const made = { cells: {}, spark: new Sparkline(), element: html('tr', { tabindex: 0 }) };
  for (const column of COLUMNS) {
    made.cells[column.id] = html('td', { class: column.id, 'data-title': column.title });
    made.element.append(made.cells[column.id]);
  }
  made.chip = html('span');
  made.reason = html('span', { class: 'reason' });
  made.client = html('bdi');
  made.server = html('bdi');
  made.cells.state.append(made.chip);
  made.arrow = html('span');
  made.cells.ends.append(made.client, made.arrow, made.server);
  made.cells.trend.append(made.spark.element, made.reason);
  made.element.dataset.id = id;
  sight.observe(made.element);
  made.element.addEventListener('click', () => select('connection', id));
  made.element.addEventListener('keydown', (event) => event.key === 'Enter' && select('connection', id));
  return made;
}

function fillRow(made, connection) {
  const { row } = connection;
  const isInvalid = row.invalid != null;
  const tone = toneOf(row);
  made.element.className = [tone, isInvalid ? 'invalid' : '', selection?.kind === 'connection' && selection.id === row.id ? 'selected' : ''].join(' ');
  say(made.cells.channel, format.name(row.channel));
  made.chip.className = `chip ${tone}`;
  say(made.chip, row.state);
  say(made.reason, isInvalid ? format.name(row.invalid) : '');
  say(made.client, isInvalid ? `held by ${holdersText(connection)}` : endText(connection, 'client'));
  say(made.server, isInvalid ? '' : endText(connection, 'server'));
  made.cells.trend.colSpan = isInvalid ? 7 : 1;
  say(made.arrow, isInvalid ? '' : ' → ');
  say(made.cells.rate, isInvalid ? format.NOTHING : format.rate(row.requestsPerSecond));
  say(made.cells.mean, format.micros(row.meanMicros));
  say(made.cells.p50, format.micros(row.p50Micros));
  say(made.cells.p99, format.micros(row.p99Micros));
  say(made.cells.inFlight, isInvalid ? format.NOTHING : format.average(row.inFlight));
  say(made.cells.asleep, isInvalid ? format.NOTHING : format.count(row.sleepingCallers));
  say(made.cells.memory, format.bytes(row.memoryBytes));
  if (visible.has(row.id)) {
    showSpark(row.id);
  }
}

function filter() {
  return find('filter').value.trim().toLowerCase();
}

/** The connections that the filter lets through. */
function shown() {
  const wanted = filter();
  return wanted === '' ? all.connections : all.connections.filter((connection) => matches(connection, wanted));
}

function matches(connection, wanted) {
  const { row } = connection;
  return [row.channel, row.state, row.invalid ?? '', endText(connection, 'client'), endText(connection, 'server')]
    .some((text) => text.toLowerCase().includes(wanted));
}

function showTable() {
  if (!state) {
    return;
  }
  const { value } = COLUMNS.find((column) => column.id === sort.column);
  const list = [...shown()];
  list.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const order = x < y ? -1 : x > y ? 1 : 0;
    return (sort.down ? -order : order) || (a.row.id < b.row.id ? -1 : 1);
  });
  COLUMNS.forEach((column) => column.head.setAttribute('aria-sort',
    column.id !== sort.column ? 'none' : sort.down ? 'descending' : 'ascending'));
  const body = document.querySelector('#connections tbody');
  const present = new Set(all.connections.map(({ row }) => row.id));
  rows.forEach((made, id) => {
    if (!present.has(id)) {
      sight.unobserve(made.element);
      visible.delete(id);
      rows.delete(id);
    }
  });
  const elements = list.map((connection) => {
    const { id } = connection.row;
    rows.set(id, rows.get(id) ?? makeRow(id));
    fillRow(rows.get(id), connection);
    return rows.get(id).element;
  });
  // Elements that are in their places stay untouched, and keep the focus.
  if (elements.length !== body.children.length || elements.some((element, i) => element !== body.children[i])) {
    const focused = document.activeElement;
    body.replaceChildren(...elements);
    if (elements.includes(focused)) {
      focused.focus({ preventScroll: true });
    }
  }
  const empty = find('empty');
  empty.hidden = list.length > 0;
  say(empty, all.connections.length > 0 ? 'No connection matches the filter.'
    : 'No process here has a connection. Start one: ./rackcall demo');
}

// --- Details ----------------------------------------------------------------------------------------------------------

const details = { shown: '', charts: new Charts(), facts: new Map() };

function fact(list, title) {
  const value = html('dd');
  list.append(html('div', {}, html('dt', {}, title), value));
  details.facts.set(title, value);
}

function closeButton() {
  const close = html('button', { type: 'button', class: 'close', 'aria-label': 'Close the details' }, '×');
  close.addEventListener('click', () => select(null));
  return close;
}

function buildConnection(connection) {
  const facts = html('dl', { class: 'facts' });
  const titles = connection.row.invalid == null
    ? ['Client', 'Server', 'Transport', 'Requests', 'Callers asleep', 'Waits', "Server's polling", 'Slots', 'Memory', 'Arenas', 'State']
    : ['Held by', 'Memory', 'State'];
  titles.forEach((title) => fact(facts, title));
  details.chip = html('span');
  details.reason = html('p', { class: 'reason' });
  const parts = [
    html('div', { class: 'title' }, html('h2', {}, html('bdi', {}, format.name(connection.row.channel))), details.chip, closeButton()),
    details.reason, details.charts.element, facts];
  if (connection.explain != null) {
    parts.push(explanation(connection));
  }
  return parts;
}

function explanation(connection) {
  const command = html('code', {}, connection.explain);
  const copy = html('button', { type: 'button' }, 'Copy');
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(connection.explain);
    say(copy, 'Copied');
  });
  if (connection.host !== '') {
    return html('div', { class: 'route' },
      html('p', {}, `Memory does not tell why calls take this route. To explain it, run this${whereText(connection.host)}:`),
      html('p', { class: 'actions' }, command, copy));
  }
  const run = html('button', { type: 'button', class: 'explain' }, 'Explain the route');
  const output = html('pre', { class: 'output', role: 'status', hidden: '' });
  run.addEventListener('click', async () => {
    run.disabled = true;
    output.hidden = false;
    say(output, 'connecting …');
    try {
      const answer = await fetch(`explain?connection=${encodeURIComponent(connection.row.id)}`, { method: 'POST' });
      say(output, await answer.text());
    } catch (problem) {
      say(output, `rackcall view did not answer: ${problem.message}`);
    }
    run.disabled = false;
  });
  return html('div', { class: 'route' },
    html('p', {}, 'Memory does not tell why calls take this route. Explaining it connects as a client does, and calls nothing.'),
    html('p', { class: 'actions' }, run, command, copy), output);
}

function waitsText(waits) {
  const kinds = [['callers yield', waits.yields], ['callers sleep', waits.sleeps], ['callers wait for a slot', waits.slots], ['the server pauses', waits.pauses]]
    .filter(([, each]) => each > 0)
    .map(([what, each]) => `${what} ${format.rate(each)}/s`);
  return kinds.join(', ') || format.NOTHING;
}

function arenasText(row) {
  const arenas = [['requests', row.requestArena], ['replies', row.replyArena], ['shared', row.sharedArena]]
    .filter(([, each]) => each != null)
    .map(([what, each]) => `${what} ${format.bytes(each.takenBytes)} of ${format.bytes(each.quotaBytes)}`);
  return arenas.join(', ') || format.NOTHING;
}

function fillConnection(connection) {
  const { row, goneSeconds } = connection;
  details.chip.className = `chip ${toneOf(row)}`;
  say(details.chip, row.state);
  say(details.reason, row.invalid == null ? '' : `Its memory makes no sense: ${format.name(row.invalid)}.`);
  const values = {
    'Held by': holdersText(connection),
    Client: endText(connection, 'client'),
    Server: endText(connection, 'server'),
    Transport: TRANSPORTS[row.transport] ?? 'unknown',
    Requests: `${format.count(row.requests)} since it began`,
    'Callers asleep': format.count(row.sleepingCallers),
    Waits: waitsText(row.waits),
    "Server's polling": goneSeconds != null ? format.NOTHING : row.serverPolls ? 'goes on' : 'pauses until the next request',
    Slots: format.count(row.slots),
    Memory: format.bytes(row.memoryBytes),
    Arenas: arenasText(row),
    State: [row.state, goneSeconds == null ? '' : ` for ${goneSeconds} s`, (STATES[row.state] ?? [])[1] ? `. ${STATES[row.state][1]}` : ''].join(''),
  };
  const isUntold = (title) => isOfGrpc(row) && NOT_OF_GRPC.includes(title);
  details.facts.forEach((element, title) => say(element, isUntold(title) ? format.NOTHING : values[title]));
  find('details').classList.toggle('invalid', row.invalid != null);
  details.charts.show(series.get(row.id));
}

function buildProcess(node) {
  const facts = html('dl', { class: 'facts' });
  ['Pid', 'Serves', 'Calls', 'Memory'].forEach((title) => fact(facts, title));
  details.chip = html('span');
  details.list = html('ul', { class: 'list' });
  details.listed = '';
  return [
    html('div', { class: 'title' }, html('h2', {}, html('bdi', {}, format.name(node.row.name))), details.chip, closeButton()),
    facts, html('h3', {}, 'Its connections'), details.list];
}

function fillProcess({ row, hasEnded, host }) {
  details.chip.className = `chip ${hasEnded ? 'bad' : 'open'}`;
  say(details.chip, hasEnded ? 'dead' : 'running');
  const values = {
    Pid: `${row.pid}${whereText(host)}`,
    Serves: `${format.plural(row.serves, 'connection')}, ${format.rate(row.servedPerSecond)} requests/s`,
    Calls: `${format.plural(row.calls, 'connection')}, ${format.rate(row.sentPerSecond)} requests/s`,
    Memory: `${format.bytes(row.memoryBytes)} of Rackcall's, shared or not`,
  };
  Object.entries(values).forEach(([title, value]) => say(details.facts.get(title), value));
  const own = all.connections.filter((each) => each.host === host && [each.row.serverPid, each.row.clientPid, ...each.row.holders].includes(row.pid))
    .sort((a, b) => (a.row.id < b.row.id ? -1 : 1));
  const listed = JSON.stringify(own.map((each) => [each.row.id, each.row.state]));
  if (listed !== details.listed) {
    details.listed = listed;
    details.list.replaceChildren(...own.map((each) => {
      const button = html('button', { type: 'button' }, html('bdi', {}, format.name(each.row.channel)), html('span', { class: `chip ${toneOf(each.row)}` }, each.row.state));
      button.addEventListener('click', () => select('connection', each.row.id));
      return html('li', {}, button);
    }));
  }
}

function showDetails() {
  const aside = find('details');
  const isConnection = selection?.kind === 'connection';
  const target = selection && (isConnection
    ? all.connections.find(({ row }) => row.id === selection.id)
    : all.processes.find(({ id }) => id === selection.id));
  const wanted = target ? `${selection.kind} ${selection.id} ${isConnection && target.row.invalid != null}` : 'none';
  if (wanted !== details.shown) {
    details.shown = wanted;
    details.facts.clear();
    aside.replaceChildren(...(target ? (isConnection ? buildConnection(target) : buildProcess(target))
      : [html('p', { class: 'invite' }, 'Select a connection or a process to see its last minutes.')]));
  }
  if (target) {
    (isConnection ? fillConnection : fillProcess)(target);
  }
}

function select(kind, id) {
  selection = kind ? { kind, id } : { kind: 'nothing' };
  show();
  const aside = find('details');
  if (kind && aside.getBoundingClientRect().top > innerHeight * 0.7) {
    aside.scrollIntoView({ block: 'start', behavior: 'smooth' });
  }
}

// --- Other hosts ------------------------------------------------------------------------------------------------------

const CARRIERS = { POOL: 'shared memory', RDMA: 'RDMA', TCP: 'TCP' };

function showRack() {
  find('rack-panel').hidden = rack === null;
  if (rack === null) {
    return;
  }
  const notes = ['A directory names them. The agents of hosts tell their numbers, if they listen for other hosts.'];
  if (rack.problem != null) {
    notes.unshift(`The directory cannot be asked, and this may be old: ${format.name(rack.problem)}.`);
  }
  const leftOut = [[rack.leftOut, 'server', ''], [rack.hostsLeftOut, 'host', ' whose agents are not asked'],
    [unseenHosts().length - MOST_HOSTS, 'host', ' that the graph does not show']]
    .filter(([number]) => number > 0)
    .map(([number, what, more]) => format.plural(number, what) + more);
  if (leftOut.length > 0) {
    notes.push(`Left out, because there are too many: ${leftOut.join(', ')}.`);
  }
  say(find('rack-note'), notes.join(' '));
  find('rack-note').className = rack.problem == null ? '' : 'reason';
  document.querySelector('#rack tbody').replaceChildren(...rack.servers.map((server) => html('tr', {},
    html('td', {}, html('bdi', {}, format.name(server.host)), server.isHere ? ' (here)' : ''),
    html('td', {}, html('bdi', {}, format.name(server.channel))),
    html('td', {}, server.carriers.map((each) => CARRIERS[each]).join(', ') || 'not at all'),
    html('td', {}, format.count(server.load)))));
}

function showHosts() {
  document.querySelector('#hosts').hidden = others.length === 0;
  document.querySelector('#hosts tbody').replaceChildren(...others.map((other) => {
    const { host, processes, connections, leftOut, sequence } = other.state;
    const problem = silenceOf(other);
    const rate = connections.reduce((sum, { row }) => sum + row.requestsPerSecond, 0);
    const left = leftOut > 0 ? `, ${format.count(leftOut)} more are left out` : '';
    const cells = problem == null
      ? [html('td', { 'data-title': 'Processes' }, format.count(processes.filter((each) => !each.hasEnded).length)),
        html('td', { 'data-title': 'Connections' }, `${format.count(connections.filter((each) => each.goneSeconds == null).length)}${left}`), html('td', { 'data-title': 'Requests/s' }, other.isOld ? format.NOTHING : format.rate(rate))]
      : [html('td', { colspan: 3, class: 'reason' }, format.name(problem))];
    const [tone, text] = problem != null ? ['bad', 'no answer'] : other.isOld ? ['ended', 'old'] : ['open', sequence > 0 ? 'live' : 'asked'];
    return html('tr', { class: problem == null ? '' : 'bad' },
      html('td', {}, html('bdi', {}, format.name(host))),
      html('td', {}, html('span', { class: `chip ${tone}` }, text)), ...cells);
  }));
}

/** What other hosts' agents have told. */
async function takeOthers() {
  const answer = await fetch(`hosts?after=${othersVersion}`, { signal: AbortSignal.timeout(ANSWER_MILLIS) });
  if (!answer.ok) {
    throw new Error(`status ${answer.status}`);
  }
  const before = new Map(others.map((other) => [other.key, other.state]));
  const next = await answer.json();
  if (next === null) {
    return;
  }
  othersVersion = answer.headers.get('Version');
  if (before.size === 0 && next.length > 0) {
    await loadOtherHistory();
  }
  showOthers(next.map((other) => {
    const last = (other.state.problem != null && before.get(other.key)) || other.state;
    if (other.isOld) {
      return still(other, last, 'old');
    }
    return silenceOf(other) != null ? still(other, last, 'no news') : other;
  }));
  for (const other of others.filter((each) => !each.isOld && each.state.problem == null && each.state.sequence !== before.get(each.key)?.sequence)) {
    partsOf(other.key, other.state).connections.forEach((connection) => remember(connection, other.state.atMillis));
  }
  show();
}

function showOthers(next) {
  others = next;
  merge();
  forget();
  showHosts();
}

/** A loop of its own: however slow other hosts' numbers are, this host's move. */
async function followOthers() {
  for (;;) {
    try {
      await takeOthers();
    } catch (problem) {
      // This host's loop tells of a server that does not answer at all.
      othersVersion = '';
      console.warn("Other hosts' numbers are old:", problem);
      showOthers(others.map((other) => still({ ...other, isOld: true }, other.state, 'old')));
      show();
    }
    await new Promise((resolve) => setTimeout(resolve, OTHERS_MILLIS));
  }
}

async function followRack() {
  for (;;) {
    try {
      const answer = await fetch('rack', { signal: AbortSignal.timeout(ANSWER_MILLIS) });
      if (answer.ok) {
        const isFirst = rack === null;
        rack = await answer.json();
        if (rack === null) {
          return;
        }
        showRack();
        if (isFirst) {
          followOthers();
        }
      }
    } catch {
      // The banner tells of a server that does not answer.
    }
    await new Promise((resolve) => setTimeout(resolve, RACK_MILLIS));
  }
}

// --- All of it --------------------------------------------------------------------------------------------------------

const graph = new Graph(find('graph'), select);

/** Connections that are there: one with memory at both of its ends counts once. */
function counted() {
  return all.connections.filter((each) => each.goneSeconds == null && !isShownThere(each));
}

function show() {
  if (!state) {
    return;
  }
  const there = counted();
  const total = (field) => there.reduce((sum, { row }) => sum + row[field], 0);
  const more = others.length > 0 ? ` and ${format.plural(others.length, 'host')}` : '';
  const dead = all.connections.filter(({ row }) => toneOf(row) === 'bad').length;
  say(find('host'), `${format.name(state.host)}${more}`);
  say(find('total-rate'), format.count(total('requestsPerSecond')));
  say(find('total-in-flight'), format.average(total('inFlight')));
  say(find('total-connections'), format.count(there.length));
  say(find('total-processes'), format.count(all.processes.filter((each) => !each.hasEnded).length));
  document.title = `${dead > 0 ? '● ' : ''}Rackcall ${format.name(state.host)}`;
  const hints = [];
  if (state.notReadable > 0) {
    hints.push(`${format.plural(state.notReadable, 'process', 'es')} cannot be read; run as root with CAP_SYS_PTRACE, rackcall view shows them, too.`);
  }
  if (state.leftOut > 0) {
    hints.push(`${format.plural(state.leftOut, 'connection')} with fewer requests are left out.`);
  }
  find('hint').hidden = hints.length === 0;
  say(find('hint'), hints.join(' '));
  if (selection === null && all.connections.length > 0) {
    selection = { kind: 'connection', id: all.connections[0].row.id };
  }
  showTable();
  showDetails();
  graph.update(graphModel());
}

function complain(problem) {
  find('problem').hidden = problem === '';
  say(find('problem'), problem);
}

function showAge() {
  const age = performance.now() - lastMillis;
  const live = find('live');
  if (state && age < LATE_MILLIS) {
    live.className = 'live';
    say(live, `live ${format.time(state.atMillis)}`);
  } else if (state) {
    live.className = 'late';
    say(live, `${Math.round(age / 1000)} s old`);
  }
  document.body.classList.toggle('stale', state !== null && age >= LATE_MILLIS);
}

function take(next) {
  complain(next.problem == null ? '' : `This host's processes cannot be read: ${next.problem}`);
  if (next.sequence === state?.sequence) {
    return;
  }
  state = next;
  lastMillis = performance.now();
  merge();
  forget();
  state.connections.forEach((connection) => remember(connection, state.atMillis));
  show();
  showAge();
}

/** Drops the numbers of connections that are not shown any more. */
function forget() {
  const present = new Set(all.connections.map(({ row }) => row.id));
  series.forEach((_, id) => present.has(id) || series.delete(id));
}

async function follow() {
  for (;;) {
    try {
      const answer = await fetch(`state?after=${state?.sequence ?? 0}`, { signal: AbortSignal.timeout(ANSWER_MILLIS) });
      if (answer.status === 403) {
        complain('rackcall view was started again. Open the address that it has printed now.');
        return;
      }
      if (!answer.ok) {
        throw new Error(`status ${answer.status}`);
      }
      const next = await answer.json();
      if (!state) {
        await loadHistory();
      }
      take(next);
    } catch (problem) {
      complain(`rackcall view does not answer (${problem.message}); the numbers are old.`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
    }
  }
}

buildHead();
find('filter').addEventListener('input', show);
setInterval(showAge, 500);
follow();
followRack();
