import type { MetricOutcome } from '../comparison.js';
import type { Comparison } from '../comparison-store.js';
import {
  agreementText,
  armText,
  countOf,
  differenceWithInterval,
  experimentText,
  namesIn,
  noiseText,
  probabilityText,
  REPEAT_TEXT,
  spentText,
  valueText,
} from '../words.js';
import { leftOutText } from './left-out.js';

const MARKS = { passed: '✅', failed: '❌', undecided: '❔', incomparable: '⛔', reported: '' };

/** A comparison as Markdown, for summaries of CI and for reviews. */
export function toMarkdown({ candidate, baseline, dataset, verdict, found, is_repeat }: Comparison): string {
  const { because, rows, metrics } = found;
  const [version, before] = [candidate.dataset_version, baseline.dataset_version];
  const versions = version === before ? `v${version}` : `v${version}, before v${before}`;
  const compared = `${experimentText(candidate)} with ${experimentText(baseline)}`;
  const leftOut = leftOutText(found);
  const named = namesIn(metrics);
  const parts = [
    `## ${MARKS[verdict]} Comparison ${verdict}: ${escaped(compared)}`,
    [
      `Dataset ${escaped(dataset.name)} ${versions}, ${countOf(rows, 'row')} compared`,
      leftOut === '' ? '' : `; left out: ${leftOut}`,
      '.',
    ].join(''),
    [...because, ...(is_repeat ? [REPEAT_TEXT] : [])].map((sentence) => `- ${escaped(named(sentence))}`).join('\n'),
    metrics.length === 0 ? '' : table(metrics, named),
    remarks(metrics, named),
    slices(metrics, named),
    escaped(spentText(found.spent)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** Writes names of metrics as people know them. */
type Named = (text: string) => string;

function table(metrics: readonly MetricOutcome[], named: Named): string {
  const head = ['Metric', 'Rule', 'Baseline', 'Candidate', 'Difference', 'Wins', 'Losses', 'p', 'Verdict'];
  const rows = metrics.map((metric) => {
    const { name, rule, wins, losses, adjusted_p, p, verdict, difference } = metric;
    const probability = adjusted_p ?? p;
    return [
      named(name),
      rule,
      armText(metric, metric.baseline) ?? '',
      armText(metric, metric.candidate) ?? '',
      difference === null ? '' : differenceWithInterval(metric, difference),
      String(wins),
      String(losses),
      probability === null ? '' : probabilityText(probability),
      `${MARKS[verdict]} ${verdict}`.trim(),
    ];
  });
  return [head, head.map(() => '-'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');
}

/** How far judges are to be trusted, and how far the same differed from itself. */
function remarks(metrics: readonly MetricOutcome[], named: Named): string {
  const sentences = metrics.flatMap((metric) => {
    const { name, judge, noise, difference } = metric;
    const known = [
      ...(judge == null ? [] : [agreementText(judge)]),
      ...(noise == null ? [] : [noiseText(metric, noise, difference?.relative ?? false)]),
    ];
    return known.length === 0 ? [] : [`${named(name)}: ${known.join(' ')}`];
  });
  return sentences.map((sentence) => `- ${escaped(sentence)}`).join('\n');
}

function slices(metrics: readonly MetricOutcome[], named: Named): string {
  const rows = metrics.flatMap((metric) =>
    metric.slices.map(({ column, value, rows: count, candidate, baseline, difference }) => [
      named(metric.name),
      `${column} = ${value}`,
      String(count),
      baseline === null ? '' : valueText(metric, baseline),
      candidate === null ? '' : valueText(metric, candidate),
      difference === null ? '' : differenceWithInterval(metric, difference),
    ]),
  );
  if (rows.length === 0) return '';
  const head = ['Metric', 'Slice', 'Rows', 'Baseline', 'Candidate', 'Difference'];
  const lines = [head, head.map(() => '-'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`);
  return `<details><summary>Slices</summary>\n\n${lines.join('\n')}\n\n</details>`;
}

/** What moves a cursor, hides text or turns its order. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu;
/** What GitHub makes a link of without any sign of Markdown. */
const BARE_LINK = /(?:[a-z][a-z0-9+.-]*:(?=\/\/)|mailto:|xmpp:|www\.)/gi;

/** A text of someone else in one line, of which nothing is taken for Markdown or HTML. */
function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\s+/g, ' ')
      .replace(UNPRINTABLE, '\uFFFD')
      .replace(/[\\`*_{}[\]<>|~#&]/g, (character) => `\\${character}`)
      // Mentions and addresses are found in the text that is shown, whatever is escaped.
      .replace(/@/g, '@&#8203;')
      .replace(BARE_LINK, (start) => start.replace(/[:.]/, (sign) => `&#${sign.charCodeAt(0)};`))
  );
}
