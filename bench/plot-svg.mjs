/** As much of SVG as the plots of the bench need. */

const escaped = (value) =>
  String(value).replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);
const at = (value) => Number(value.toFixed(1));

export function text(x, y, words, { size = 11, weight = 400, anchor = 'start', fill }) {
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}">${escaped(words)}</text>`;
}

export function rect(x, y, width, height, fill) {
  return `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" fill="${fill}"/>`;
}

export function line(x1, y1, x2, y2, stroke) {
  return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${stroke}"/>`;
}

export function polyline(points, stroke, dash = 'none') {
  const path = points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ');
  const dots =
    dash === 'none'
      ? points.map(([x, y]) => `<circle cx="${at(x)}" cy="${at(y)}" r="3" fill="${stroke}"/>`).join('')
      : '';
  return `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="2" stroke-dasharray="${dash}"/>${dots}`;
}

/** Position of a value on a logarithmic axis; `from` and `to` are its ends. */
export function logScale(from, to, left, right) {
  const scale = (value) =>
    left + ((Math.log(value) - Math.log(from)) / (Math.log(to) - Math.log(from))) * (right - left);
  return Object.assign(scale, { from, to });
}

/** Round values of a logarithmic axis; fewer where it is long. */
export function ticks(from, to) {
  const steps = to / from > 300 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = -4; power <= 6; power++) {
    for (const step of steps) {
      const value = Number((step * 10 ** power).toPrecision(1));
      if (value >= from && value <= to) found.push(value);
    }
  }
  return found;
}

export function document(width, height, title, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${at(height)}" width="${width}" height="${at(height)}" role="img" font-family="system-ui, sans-serif">
<title>${escaped(title)}</title>
${rect(0, 0, width, height, '#ffffff')}
${parts.join('\n')}
</svg>
`;
}
