import type { Calibration, VersionAgreement } from '../report.js';

const LEFT = 56;
const TOP = 68;
const HEIGHT = 220;
const COLUMN = 84;
const MIN_COLUMNS = 6;
/** More would not be told apart; the newest are shown. */
const MAX_COLUMNS = 24;

/** A picture of agreement by version of the judge: rates with their intervals, and Cohen's κ. */
export function calibrationSvg({ by_version, judge_id }: Calibration): string {
  const versions = by_version.slice(-MAX_COLUMNS);
  const width = LEFT + COLUMN * Math.max(MIN_COLUMNS, versions.length) + 16;
  const height = TOP + HEIGHT + 56;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="13">`,
    `<title id="title">Agreement of judge ${judge_id} with people, by version</title>`,
    `<desc id="desc">${versions.map(inWords).join('; ') || 'No feedback yet'}</desc>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="24" font-size="15" font-weight="600" fill="#1c1c1c">Agreement with people, by judge version</text>`,
    `<g fill="#4a4a4a"><circle cx="${LEFT + 6}" cy="41" r="5" fill="#0b5fb0"/><text x="${LEFT + 18}" y="45">rate, 95% interval</text>`,
    `${diamond(LEFT + 166, 41)}<text x="${LEFT + 178}" y="45">Cohen’s κ</text></g>`,
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => gridLine(share, width)),
    ...versions.map((version, index) => column(version, LEFT + COLUMN * (index + 0.5))),
    '</svg>',
  ].join('\n');
}

function gridLine(share: number, width: number): string {
  const y = yOf(share);
  return `<line x1="${LEFT}" x2="${width - 16}" y1="${y}" y2="${y}" stroke="#d9d9d9"/><text x="${LEFT - 8}" y="${y + 4}" text-anchor="end" fill="#4a4a4a">${share * 100}%</text>`;
}

function column(version: VersionAgreement, x: number): string {
  const { rate, rate_interval: interval, kappa } = version;
  const range =
    interval === null
      ? ''
      : `<line x1="${x}" x2="${x}" y1="${yOf(interval.low)}" y2="${yOf(interval.high)}" stroke="#0b5fb0" stroke-width="2"/>`;
  const point = rate === null ? '' : `<circle cx="${x}" cy="${yOf(rate)}" r="5" fill="#0b5fb0"/>`;
  // A κ worse than chance is drawn at the bottom; the words beside it state its value.
  const second = kappa === null ? '' : diamond(x + 16, yOf(Math.max(0, kappa)));
  return [
    `<g><title>${inWords(version)}</title>${range}${point}${second}`,
    `<text x="${x}" y="${TOP + HEIGHT + 22}" text-anchor="middle" font-weight="600" fill="#1c1c1c">${version.version}</text>`,
    `<text x="${x}" y="${TOP + HEIGHT + 40}" text-anchor="middle" fill="#4a4a4a">n = ${version.count}</text></g>`,
  ].join('');
}

function diamond(x: number, y: number): string {
  return `<path d="M${x} ${y - 6}l6 6-6 6-6-6z" fill="#ffffff" stroke="#a33b00" stroke-width="2"/>`;
}

function yOf(share: number): number {
  return Math.round((TOP + HEIGHT * (1 - share)) * 10) / 10;
}

function inWords({ version, count, rate, kappa }: VersionAgreement): string {
  if (rate === null) return `${version}: no corrections`;
  const agreement = `${version}: ${Math.round(rate * 100)}% of ${count}`;
  return kappa === null ? agreement : `${agreement}, κ ${kappa.toFixed(2)}`;
}
