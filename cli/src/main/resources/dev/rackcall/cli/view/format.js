// Numbers, names and elements. Other processes choose the names: they reach the page as text only.

const SVG = 'http://www.w3.org/2000/svg';
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

export const NOTHING = '–';

export function count(value) {
  return whole.format(value);
}

export function rate(value) {
  return value > 0 && value < 100 ? tenths.format(value) : whole.format(value);
}

export function shortRate(value) {
  return value > 0 && value < 10 ? tenths.format(value) : short.format(Math.round(value));
}

export function average(value) {
  return value == null ? NOTHING : tenths.format(value);
}

/** A time in the unit that fits. */
export function micros(value) {
  if (value == null) {
    return NOTHING;
  }
  if (value < 1000) {
    return `${tenths.format(value)} µs`;
  }
  return value < 1e6 ? `${tenths.format(value / 1000)} ms` : `${tenths.format(value / 1e6)} s`;
}

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? tenths.format(value) : whole.format(value)} ${units[unit]}`;
}

export function time(millis) {
  return clock.format(millis);
}

export function plural(number, what, ending = 's') {
  return `${count(number)} ${what}${number === 1 ? '' : ending}`;
}

/** A name without characters that are invisible or turn the direction of text, which could disguise it. */
export function name(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

export function cut(text, length) {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/** Cuts in the middle: names of channels differ at their ends. */
export function cutMiddle(text, length) {
  const characters = [...text];
  if (characters.length <= length) {
    return text;
  }
  const end = Math.ceil((length - 1) * 0.6);
  return `${characters.slice(0, length - 1 - end).join('')}…${characters.slice(-end).join('')}`;
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Changes the text only if it differs, which keeps what the reader has selected. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Changes an attribute only if it differs, which spares the browser a layout. */
export function set(element, attribute, value) {
  if (element.getAttribute(attribute) !== value) {
    element.setAttribute(attribute, value);
  }
}
