'use strict';
// Sorting, filters, curves and enlarged pictures. Without scripts the page still shows all results.
const all = (selector, at = document) => [...at.querySelectorAll(selector)];
const make = (tag, set = {}, ...inner) => { const e = Object.assign(document.createElement(tag), set); e.append(...inner); return e; };
const press = (e, act) => {
  e.tabIndex = 0;
  e.addEventListener('click', act);
  e.addEventListener('keydown', k => { if (k.key === 'Enter' && k.target === e) act(k); });
};

// Filters: each offers the values that cells have. The headings of tables have the same names.
const filters = ['Dataset', 'IPC', 'Method', 'Protocol'].map(name => ({ name, key: name[0].toLowerCase(), values: new Set(), select: make('select') }));
const cells = all('details.cell').map(e => ({ e, of: e.dataset, section: e.closest('section') }));
for (const c of cells) filters.forEach(f => f.values.add(c.of[f.key]));
const chosen = f => f.select.value;
const count = make('output');

// Tables: in the original rows headings span several rows; sorted and filtered rows repeat them.
const tables = all('table').map(e => {
  const heads = all('thead th.head', e), last = e.tHead.rows[e.tHead.rows.length - 1];
  const columns = all('th:not(.head)', last), groups = e.tHead.rows.length > 1 ? all('th:not(.head)', e.tHead.rows[0]) : [];
  return { e, heads, columns, groups, spans: groups.map(g => g.colSpan), body: e.tBodies[0], by: -1, down: false };
});

function flat(t) {
  const above = [];
  return [...t.body.rows].map(row => {
    const r = row.cloneNode(true);
    r.className = '';
    t.heads.forEach((_, j) => {
      const own = r.querySelector('th.h' + j);
      if (own) { own.rowSpan = 1; above[j] = own; } else r.insertBefore(above[j].cloneNode(true), r.children[j]);
    });
    return r;
  });
}

const text = cell => cell.textContent.trim();
function number(cell) {
  const shown = cell.querySelector('sup') ? text(cell).slice(0, -text(cell.querySelector('sup')).length) : text(cell);
  const m = /^[-−+]?[\d,]*\.?\d+(e[-+]?\d+)?/i.exec(shown);
  return m ? Number(m[0].replace('−', '-').replace(/,/g, '')) : NaN;
}

function compare(a, b, down) { // cells without a number come last
  const x = number(a), y = number(b);
  if (isNaN(x) && isNaN(y)) return text(a).localeCompare(text(b), 'en', { numeric: true }) * (down ? -1 : 1);
  if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
  return down ? y - x : x - y;
}

function show(t) {
  const out = t.columns.map(c => filters.some(f => chosen(f) && f.values.has(text(c)) && text(c) !== chosen(f)));
  const axes = t.heads.map(h => filters.find(f => f.name === text(h) && chosen(f)));
  const before = t.e.tBodies[0];
  if (t.by < 0 && !out.includes(true) && !axes.some(Boolean)) {
    if (before !== t.body) before.replaceWith(t.body);
  } else {
    let rows = flat(t);
    rows = rows.filter(r => axes.every((f, j) => !f || text(r.children[j]) === chosen(f)));
    if (t.by >= 0) { // rows of each metric stay together
      const metric = t.heads.findIndex(h => text(h) === 'Metric'), order = [];
      rows.forEach(r => metric >= 0 && order.push(text(r.children[metric])));
      const rank = r => metric < 0 ? 0 : order.indexOf(text(r.children[metric]));
      rows = rows.map((r, i) => [rank(r), r, i]).sort((a, b) => a[0] - b[0] || compare(a[1].children[t.by], b[1].children[t.by], t.down) || a[2] - b[2]).map(x => x[1]);
    }
    rows.forEach(r => out.forEach((hidden, i) => { r.children[t.heads.length + i].hidden = hidden; }));
    before.replaceWith(make('tbody', {}, ...rows));
  }
  t.columns.forEach((c, i) => { c.hidden = out[i]; });
  let from = 0;
  t.groups.forEach((g, i) => {
    const n = out.slice(from, from += t.spans[i]).filter(hidden => !hidden).length;
    g.hidden = n === 0;
    g.colSpan = Math.max(1, n);
  });
  [...t.heads, ...t.columns].forEach((h, i) => h.setAttribute('aria-sort', i !== t.by ? 'none' : t.down ? 'descending' : 'ascending'));
}

for (const t of tables) {
  [...t.heads, ...t.columns].forEach((h, i) => press(h, () => { // ascending, descending, then the original order
    [t.by, t.down] = t.by !== i ? [i, false] : t.down ? [-1, false] : [i, true];
    show(t);
  }));
}

function filter() {
  const left = new Map();
  for (const c of cells) {
    c.e.hidden = filters.some(f => chosen(f) && c.of[f.key] !== chosen(f));
    left.set(c.section, (left.get(c.section) || 0) + !c.e.hidden);
  }
  for (const [section, n] of left) {
    section.hidden = n === 0;
    all(`nav a[href="#${section.id}"]`).forEach(a => { a.parentElement.hidden = n === 0; });
  }
  tables.forEach(show);
  plots.forEach(draw);
  count.value = `${cells.filter(c => !c.e.hidden).length} of ${cells.length} cells`;
}

// Curves: a plot in each section shows the ticked cells and their values at the pointer.
const colours = ['#0b84c6', '#d55e00', '#009e73', '#c76b9f', '#b8860b', '#7a5cc6', '#5aa9e6', '#8a8f98'];
const plots = [...new Set(cells.filter(c => c.e.dataset.curve).map(c => c.section))].map(section => {
  const p = { section, at: null, log: make('input', { type: 'checkbox' }), legend: make('ul'), canvas: make('div') };
  p.curves = cells.filter(c => c.section === section && c.e.dataset.curve).map(c => {
    const tick = make('input', { type: 'checkbox', title: 'Show curve', onclick: e => e.stopPropagation(), onchange: () => draw(p) });
    c.e.querySelector('summary').prepend(tick);
    return { c, tick, name: text(c.e.querySelector('summary span')), points: c.e.dataset.curve.split(' ').map(w => w.split(':').map(Number)) };
  });
  const pick = n => { let k = 0; for (const u of p.curves) u.tick.checked = !u.c.e.hidden && k++ < n; draw(p); };
  p.log.onchange = () => draw(p);
  p.figure = make('figure', { className: 'plot' },
    make('p', {}, make('b', { textContent: 'Test accuracy (%) along updates. ' }), 'Tick cells, or ',
      make('button', { textContent: 'show the first 8', onclick: () => pick(8) }), ' ', make('button', { textContent: 'none', onclick: () => pick(0) }), ' ',
      make('label', {}, p.log, ' logarithmic axis')), p.canvas, p.legend);
  p.curves[0].c.e.before(p.figure);
  const point = e => { const box = p.canvas.firstChild?.getBoundingClientRect(); if (box) { p.at = e.clientX - box.left; draw(p); } };
  p.canvas.addEventListener('pointermove', point);
  p.canvas.addEventListener('pointerdown', point);
  p.canvas.addEventListener('pointerleave', () => { p.at = null; draw(p); });
  return p;
});

function ticks(low, high) {
  const rough = (high - low) / 5 || 1, ten = 10 ** Math.floor(Math.log10(rough)), step = ten * [1, 2, 5, 10].find(m => m * ten >= rough), out = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step) out.push(Number(v.toPrecision(12)));
  return out;
}

function draw(p) {
  const on = p.curves.filter(u => u.tick.checked && !u.c.e.hidden);
  p.legend.replaceChildren();
  if (!on.length) return p.canvas.replaceChildren();
  const W = Math.max(280, p.canvas.clientWidth), H = Math.min(360, W * 0.7), [L, R, T, B] = [44, 26, 10, 34];
  const xs = on.flatMap(u => u.points.map(q => q[0])), ys = on.flatMap(u => u.points.map(q => q[1]));
  const f = x => p.log.checked ? Math.log10(1 + x) : x, x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(y0 + 1, ...ys);
  const X = x => L + (W - L - R) * f(x) / (f(x1) || 1), Y = y => H - B - (H - T - B) * (y - y0) / (y1 - y0);
  const marks = p.log.checked ? [0, ...Array.from({ length: Math.floor(Math.log10(x1)) + 1 }, (_, i) => 10 ** i)] : ticks(0, x1);
  let s = `<svg width="${W}" height="${H}" role="img" aria-label="Test accuracy along updates">`;
  for (const y of ticks(y0, y1)) s += `<path class="grid" d="M${L} ${Y(y)}H${W - R}"/><text x="${L - 6}" y="${Y(y) + 4}" text-anchor="end">${y}</text>`;
  for (const x of marks) s += `<path class="grid" d="M${X(x)} ${T}V${H - B}"/><text x="${X(x)}" y="${H - B + 16}" text-anchor="middle">${x.toLocaleString('en')}</text>`;
  s += `<text x="${(L + W - R) / 2}" y="${H - 3}" text-anchor="middle">Update</text>`;
  on.forEach((u, i) => {
    const look = `style="stroke:${colours[i % colours.length]};stroke-dasharray:${i < colours.length ? 'none' : '6 3'}"`;
    s += `<path class="curve" ${look} d="M${u.points.map(q => X(q[0]).toFixed(1) + ' ' + Y(q[1]).toFixed(1)).join('L')}"/>`;
    let value = u.points[u.points.length - 1];
    if (p.at !== null) value = u.points.reduce((a, b) => Math.abs(X(b[0]) - p.at) < Math.abs(X(a[0]) - p.at) ? b : a);
    if (p.at !== null) s += `<circle r="4" cx="${X(value[0])}" cy="${Y(value[1])}" fill="${colours[i % colours.length]}"/>`;
    const line = make('li', {}, `${u.name}: ${value[1].toFixed(2)} % at update ${value[0].toLocaleString('en')}`);
    line.style.setProperty('--colour', colours[i % colours.length]);
    p.legend.append(line);
  });
  if (p.at !== null) s += `<path class="at" d="M${Math.min(W - R, Math.max(L, p.at))} ${T}V${H - B}"/>`;
  p.canvas.innerHTML = s + '</svg>';
}

// Pictures fill the window on a click.
const large = document.body.appendChild(make('dialog', { onclick: () => large.close() }));
for (const img of all('figure img')) {
  press(img, () => { large.replaceChildren(img.cloneNode()); large.firstChild.loading = 'eager'; large.showModal(); });
}

// Every cell gets a link to itself. A link opens its cell.
for (const c of cells) c.e.querySelector('summary').append(make('a', { href: '#' + encodeURIComponent(c.e.id), textContent: '#', title: 'Link to this cell' }));
const arrive = () => {
  const e = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (e?.matches('details')) { e.open = true; e.scrollIntoView(); }
};
addEventListener('hashchange', arrive);
addEventListener('resize', () => plots.forEach(draw));

const bar = make('form', { className: 'filters', onsubmit: e => e.preventDefault(), onreset: () => setTimeout(filter) });
for (const f of filters) {
  const values = [...f.values].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  f.select.append(make('option', { value: '', textContent: 'all' }), ...values.map(v => make('option', { textContent: v })));
  f.select.onchange = filter;
  bar.append(make('label', {}, f.name + ' ', f.select), ' ');
}
bar.append(make('button', { type: 'reset', textContent: 'Reset' }), ' ', count);
if (cells.length > 1) document.querySelector('header').after(bar);
filter();
arrive();

// While runs are under way, the page loads itself again, unless someone is using it.
const inUse = () => large.open || document.querySelector('details.cell[open]') || filters.some(chosen) || tables.some(t => t.by >= 0) || plots.some(p => p.curves.some(u => u.tick.checked));
if (document.querySelector('.under-way')) setInterval(() => { if (!inUse()) location.reload(); }, 60000);
