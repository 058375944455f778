import type { ComponentChildren } from 'preact';
import { counted } from '../../../model/format.js';
import type { Experiment } from '../../../model/experiments.js';
import { When } from '../../parts/figures.js';
import { hrefOf } from '../../state/location.js';
import { DatasetLink } from './experiment-table.js';

/** Characters of a value that are shown. */
const LONGEST = 2_000;

/** What an experiment tries, and on what. */
export function About({ experiment }: { readonly experiment: Experiment }) {
  const { description, rows, repetitions, subject, parameters, created_at, finished_at, status } = experiment;
  return (
    <>
      {description !== '' && <p class="soft dataset-about">{description}</p>}
      <dl class="experiment-about card">
        <Pair name="Dataset">
          <DatasetLink of={experiment} />, {counted(rows, 'row')}
          {repetitions > 1 && `, each ${repetitions} times`}
        </Pair>
        {Object.entries(subject).map(([name, value]) => (
          <Pair key={name} name={LABELS[name] ?? name}>
            <SubjectValue name={name} value={value} subject={subject} />
          </Pair>
        ))}
        {Object.entries(parameters).map(([name, value]) => (
          <Pair key={`parameter ${name}`} name={name}>
            <bdi>{textOf(value)}</bdi>
          </Pair>
        ))}
        <Pair name="Created">
          <When at={created_at} />
        </Pair>
        {finished_at !== null && (
          <Pair name={status === 'canceled' ? 'Canceled' : 'Finished'}>
            <When at={finished_at} />
          </Pair>
        )}
      </dl>
    </>
  );
}

const LABELS: Readonly<Record<string, string>> = {
  commit: 'Commit',
  branch: 'Branch',
  dirty: 'Uncommitted changes',
  prompt_slug: 'Prompt',
  prompt_version: 'Prompt version',
  model: 'Model',
  url: 'URL',
};

function Pair({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt class="clip">
        <bdi>{name}</bdi>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

interface ValueProps {
  readonly name: string;
  readonly value: unknown;
  readonly subject: Experiment['subject'];
}

/** A value of a subject, which leads to what it names. */
function SubjectValue({ name, value, subject }: ValueProps) {
  const text = <bdi>{typeof value === 'boolean' ? (value ? 'yes' : 'no') : textOf(value)}</bdi>;
  if (name === 'url' && typeof value === 'string' && /^https?:\/\//i.test(value))
    return (
      <a href={value} target="_blank" rel="noreferrer">
        {text}
      </a>
    );
  if (name === 'prompt_slug' && typeof value === 'string') {
    const { prompt_version: version } = subject;
    const query = typeof version === 'number' ? { b: String(version) } : {};
    return <a href={hrefOf({ screen: 'prompts', id: value, query })}>{text}</a>;
  }
  return text;
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
