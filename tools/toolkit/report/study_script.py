# SPDX-License-Identifier: Apache-2.0
"""The script of a study's page: the roofline and the parts of the variant that is chosen."""

SCRIPT = r"""
const variants = /*DATA*/;
const $ = id => document.getElementById(id);
const escape = s => s.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const short = v => v >= 1e5 ? v.toExponential(1) : Number(v.toPrecision(3)).toString();
const all = variants.flatMap(v => v.dots);
const range = (values, lowest, highest) => [Math.log10(Math.min(...values, lowest)), Math.log10(Math.max(...values, highest))];
const [x0, x1] = range(all.map(d => d[2]), 0.1, 1000);
const [y0, y1] = range([...all.map(d => d[3]), ...variants.map(v => v.peak)], 10, 1000);
const longest = Math.max(...all.map(d => d[1]), 1e-9);
const x = v => 60 + 1080 * (Math.log10(v) - x0) / (x1 - x0), y = v => 370 - 350 * (Math.log10(v) - y0) / (y1 - y0);

function roof(rate, peak, name, colour) {
  if (!rate) return "";
  const low = Math.max(10 ** x0, 10 ** y0 / rate), knee = Math.min(peak / rate, 10 ** x1);
  return `<path d="M${x(low)},${y(low * rate)}L${x(knee)},${y(knee * rate)}H${x(10 ** x1)}" fill="none" stroke="${colour}"/>` +
    `<text x="${x(low) + 4}" y="${y(low * rate) - 12}">${name} ${short(rate)} GB/s</text>`;
}

function show() {
  const v = variants[Number($("variant").value)];
  let out = roof(v.hbm, v.peak, "HBM", "#999") + roof(v.l2, v.peak, "L2", "#ccc") +
    `<text x="1140" y="${y(v.peak) - 5}" text-anchor="end">Cube ${short(v.peak / 1000)} TFLOPS</text>`;
  for (const [name, us, intensity, gops] of v.dots)
    out += `<circle cx="${x(intensity)}" cy="${y(gops)}" r="${3 + 16 * Math.sqrt(us / longest)}" fill="#30509080" stroke="#305090">` +
      `<title>${escape(name)}: ${short(us)} us, ${short(intensity)} operations a byte, ${short(gops)} GFLOPS</title></circle>`;
  for (let e = Math.ceil(x0); e <= x1; e++) out += `<text x="${x(10 ** e)}" y="390" text-anchor="middle">${short(10 ** e)}</text>`;
  for (let e = Math.ceil(y0); e <= y1; e++) out += `<text x="4" y="${y(10 ** e) + 4}">${short(10 ** e)}</text>`;
  $("roofline").innerHTML = out + '<text x="1170" y="374" text-anchor="end">operations a byte</text><text x="4" y="12">GFLOPS</text>';
  const sum = v.parts ? Object.values(v.parts).reduce((a, b) => a + b, 0) : 0;
  $("parts").innerHTML = "<p>" + (v.joule === null ? "" : `${short(v.joule * 1e3)} mJ, ${short(v.joule / v.us * 1e6)} W on average. `) +
    (v.parts ? `${short(sum)} mm²: ` + Object.entries(v.parts).map(([n, a]) => `${n} ${short(a)}`).join(", ") + "." : "") + "</p>";
}

variants.forEach((v, i) => $("variant").add(new Option(v.name, i)));
$("variant").onchange = show;
show();
"""
