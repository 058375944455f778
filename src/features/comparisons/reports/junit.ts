import type { MetricOutcome } from '../comparison.js';
import type { Comparison } from '../comparison-store.js';
import { agreementText, detectableText, experimentText, namesIn } from '../words.js';

/** A comparison as a JUnit report: a test for each metric, which an undecided one skips. */
export function toJUnit({ candidate, baseline, dataset, found, verdict }: Comparison): string {
  const { metrics, because } = found;
  const suite = `${experimentText(candidate)} with ${experimentText(baseline)}`;
  const named = namesIn(metrics);
  const cases =
    verdict === 'incomparable'
      ? [testcase(dataset.name, 'comparison', `<error message="${escaped(because.join(' '))}"/>`)]
      : metrics.map((metric) =>
          testcase(dataset.name, named(`${metric.name}: ${metric.rule}`), resultOf(metric, named)),
        );
  const count = (of: MetricOutcome['verdict']) => metrics.filter((metric) => metric.verdict === of).length;
  const counts = `tests="${cases.length}" failures="${count('failed')}" errors="${verdict === 'incomparable' ? 1 : 0}" skipped="${count('undecided')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="spanhouse" ${counts}>`,
    `  <testsuite name="${escaped(suite)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testcase(classname: string, name: string, result: string): string {
  return `    <testcase classname="${escaped(classname)}" name="${escaped(name)}">${result}</testcase>`;
}

function resultOf(metric: MetricOutcome, named: (text: string) => string): string {
  const { verdict, judge } = metric;
  const because = named(metric.because);
  const text = [because, detectableText(metric), judge == null ? null : agreementText(judge)]
    .filter((part) => part !== null)
    .join(' ');
  if (verdict === 'failed') return `<failure message="${escaped(because)}">${escaped(text)}</failure>`;
  if (verdict === 'undecided') return `<skipped message="${escaped(text)}"/>`;
  return `<system-out>${escaped(text)}</system-out>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text in XML, which has no place for most control characters, however they are written. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[\t\n\r]/g, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '\uFFFD')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
