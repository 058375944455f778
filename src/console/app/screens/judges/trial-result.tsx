import { useState } from 'preact/hooks';
import type { CalibrationTrialRead } from '../../../../features/calibration/schema.js';
import { count, counted, percent } from '../../../model/format.js';
import { Choice } from '../../parts/choice.js';
import { Cost, Tile } from '../../parts/figures.js';
import { Button } from '../../parts/button.js';
import { Rate } from '../../parts/rate.js';
import { SpanLink } from '../../parts/span-link.js';
import { PassOrFail } from '../../parts/verdict.js';
import { place } from '../../state/location.js';

type Result = NonNullable<CalibrationTrialRead['result']>;

/** Spans shown at first. */
const SHOWN = 50;

/** Agreement without and with corrections, of the same spans. */
export function TrialResult({ result }: { readonly result: Result }) {
  const { compared, failed, missing, before, after, improved, worsened, difference, difference_interval } = result;
  return (
    <div class="stack">
      <div class="tiles">
        <Tile
          label="Difference"
          note={
            difference_interval === null
              ? undefined
              : `95% CI: ${points(difference_interval.low)} to ${points(difference_interval.high)}`
          }
        >
          {points(difference)}
        </Tile>
        <Tile label="Improved">{count(improved)}</Tile>
        <Tile label="Worsened">{count(worsened)}</Tile>
        <Tile label="Compared" note={`${counted(failed, 'failure')}, ${count(missing)} no longer stored`}>
          {count(compared)}
        </Tile>
      </div>
      <div class="table-box" role="region" aria-label="Before and after" tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Judge</th>
              <th scope="col">κ, −1 to 1</th>
              <th scope="col">Agreement, 0 to 100%</th>
              <th scope="col" class="num">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {(
              [
                ['without corrections', before],
                ['with corrections', after],
              ] as const
            ).map(([label, arm]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>
                  <Rate of={arm.kappa} interval={arm.kappa_interval} kind="kappa" wide />
                </td>
                <td>
                  <Rate of={arm.rate} interval={arm.rate_interval} wide />
                </td>
                <td class="num">
                  <Cost of={arm.spent.cost} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Spans spans={result.spans} />
    </div>
  );
}

function points(share: number | null): string {
  return share === null ? percent(null) : `${share > 0 ? '+' : ''}${percent(share)}`;
}

function Spans({ spans }: Pick<Result, 'spans'>) {
  const [all, setAll] = useState(false);
  const change = place.value.query.get('change');
  const chosen = spans.filter((span) => change === null || span.change === change);
  const shown = all ? chosen : chosen.slice(0, SHOWN);
  return (
    <section class="stack">
      <div class="line">
        <h3>Spans</h3>
        <Choice
          label="Change"
          name="change"
          options={[
            ['improved', 'improved'],
            ['worsened', 'worsened'],
            ['same', 'unchanged'],
          ]}
        />
        <span class="soft">
          {count(chosen.length)} of {count(spans.length)}
        </span>
      </div>
      <div class="table-box" role="region" aria-label="Spans of the trial" tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {['Span', 'People', 'Without', 'With', 'Change', 'Reason with corrections'].map((label) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ span_id, human, before, after, change: changed, failure }) => (
              <tr key={span_id}>
                <td>
                  <SpanLink id={span_id} />
                </td>
                {[human.evaluation_result, before?.evaluation_result, after?.evaluation_result].map((passed, index) => (
                  <td key={index}>{passed === undefined ? '–' : <PassOrFail passed={passed} />}</td>
                ))}
                <td>{changed ?? '–'}</td>
                <td title={failure ?? after?.evaluation_reason}>
                  <bdi>{failure ?? after?.evaluation_reason}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < chosen.length && (
        <div class="line">
          <Button onClick={() => setAll(true)}>Show all {count(chosen.length)}</Button>
        </div>
      )}
    </section>
  );
}
