// The charts of one connection over the last five minutes. uPlot draws them: it redraws 300 points in less than a
// millisecond, and its cursors move together.

import uPlot from './uplot.js';
import * as format from './format.js';

const HEIGHT = 92;
const WINDOW_SECONDS = 300;

/** Each draws the numbers of some fields, and says the last ones in this order. */
const CHARTS = [
  { fields: ['rate'], title: 'Requests/s', colours: ['--chart-rate'], text: format.rate, axis: format.shortRate },
  { fields: ['mean'], isSparse: true, title: 'Mean time to the answer', colours: ['--chart-mean'], text: format.micros, axis: shortMicros },
  { fields: ['p50', 'p99'], isSparse: true, title: 'Median, 99th percentile', colours: ['--chart-mean', '--chart-p99'], text: format.micros, axis: shortMicros },
  { fields: ['inFlight'], title: 'In flight', colours: ['--chart-in-flight'], text: format.average, axis: (v) => `${+v.toFixed(2)}` },
];

function shortMicros(value) {
  if (value < 1000) {
    return `${+value.toFixed(1)}µ`;
  }
  return value < 1e6 ? `${+(value / 1000).toFixed(1)}m` : `${+(value / 1e6).toFixed(1)}s`;
}

function colour(property) {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}

function clock(seconds) {
  return format.time(seconds * 1000).slice(0, 5);
}

export class Charts {
  constructor() {
    this.element = format.html('div', { class: 'charts' });
    this.plots = [];
    this.series = null;
    new ResizeObserver(() => this.resize()).observe(this.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.rebuild());
  }

  /** Shows these numbers: {times, rate, mean, p50, p99, inFlight}. */
  show(series) {
    this.series = series;
    if (this.plots.length === 0) {
      this.rebuild();
    } else {
      this.plots.forEach((plot) => {
        plot.chart.setData(this.data(plot.fields));
        plot.say();
      });
    }
  }

  data(fields) {
    return [this.series.times.map((millis) => millis / 1000), ...fields.map((field) => this.series[field])];
  }

  rebuild() {
    this.plots.forEach((plot) => plot.chart.destroy());
    this.element.replaceChildren();
    this.plots = [];
    if (this.series && this.element.clientWidth > 0) {
      this.plots = CHARTS.map((kind, index) => this.plot(kind, index === CHARTS.length - 1));
    }
  }

  resize() {
    if (this.plots.length === 0) {
      this.rebuild();
      return;
    }
    const width = this.element.clientWidth;
    this.plots.filter((plot) => width > 0 && plot.chart.width !== width)
      .forEach((plot) => plot.chart.setSize({ width, height: plot.chart.height }));
  }

  plot(kind, isLast) {
    const value = format.html('output');
    const holder = format.html('figure', {}, format.html('figcaption', {}, kind.title, value));
    this.element.append(holder);
    const text = colour('--muted');
    const grid = { stroke: colour('--line'), width: 1 };
    const axis = { stroke: text, grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    const lines = kind.colours.map(colour);
    const plot = { fields: kind.fields };
    plot.say = () => {
      const at = plot.chart.cursor.idx ?? this.series.times.length - 1;
      const when = plot.chart.cursor.idx == null ? '' : ` at ${format.time(this.series.times[at])}`;
      const values = kind.fields.map((field) => this.series[field][at]);
      format.say(value, `${values.map((each) => (each == null ? format.NOTHING : kind.text(each))).join(', ')}${when}`);
    };
    plot.chart = new uPlot({
      width: this.element.clientWidth,
      height: HEIGHT + (isLast ? 22 : 0),
      legend: { show: false },
      padding: [6, 4, isLast ? 0 : 4, 0],
      cursor: { sync: { key: 'connection' }, drag: { x: false, y: false }, points: { size: 6, fill: (_, i) => lines[i - 1], width: 0 } },
      scales: {
        x: { time: true, range: () => this.range() },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
      },
      axes: [
        { ...axis, show: isLast, size: 22, gap: 2, space: 70, values: (_, all) => all.map(clock) },
        { ...axis, size: 44, gap: 4, space: 28, values: (_, all) => all.map(kind.axis) },
      ],
      // What is known now and then only needs points; an area would make it look like peaks.
      series: [{}, ...lines.map((line) => (kind.isSparse
        ? { stroke: line, width: 1.5, points: { show: true, size: 4, fill: line, width: 0 } }
        : { stroke: line, fill: `${line}22`, width: 1.5, points: { show: false } }))],
      hooks: { setCursor: [() => plot.say && plot.chart && plot.say()] },
    }, this.data(kind.fields), holder);
    plot.say();
    return plot;
  }

  range() {
    const last = this.series.times.at(-1) / 1000;
    return [last - WINDOW_SECONDS, last];
  }
}

/** A line of the rate without axes, for a row of the table. */
export class Sparkline {
  constructor() {
    this.area = format.svg('path', { class: 'area' });
    this.line = format.svg('path', { class: 'line' });
    this.element = format.svg('svg', { class: 'spark', viewBox: '0 0 100 24', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      this.area, this.line);
  }

  show(series) {
    const last = series.times.at(-1);
    const most = Math.max(1, ...series.rate.filter((rate) => rate != null));
    let line = '';
    let area = '';
    let start = null;
    let x = 0;
    const end = () => {
      if (start !== null) {
        area += `L${x},24L${start},24Z`;
        start = null;
      }
    };
    series.rate.forEach((rate, i) => {
      if (rate == null) {
        end();
        return;
      }
      x = +(100 - (last - series.times[i]) / (WINDOW_SECONDS * 10)).toFixed(2);
      const y = +(22 - (rate / most) * 20).toFixed(2);
      const step = `${start === null ? 'M' : 'L'}${x},${y}`;
      line += step;
      area += step;
      start ??= x;
    });
    end();
    this.line.setAttribute('d', line);
    this.area.setAttribute('d', area);
  }
}
