import type { CalibrationRead } from '../../../features/calibration/schema.js';
import { count, NOTHING } from '../../model/format.js';
import { hrefOf } from '../state/location.js';
import { When } from './figures.js';
import { Rate } from './rate.js';

/** What a judge's figures by version are of: the list of evaluations names versions so, too. */
interface AgreementProps {
  readonly judgeId: string;
  readonly report: Pick<CalibrationRead, 'by_version'>;
  /** Only so many of the newest versions; undefined: all. */
  readonly newest?: number;
}

/**
 * How far people agreed with each version of a judge, below one another on one scale, so that before and after a correction can
 * be compared: rate and κ with their intervals as bars.
 */
export function AgreementByVersion({ judgeId, report: { by_version }, newest }: AgreementProps) {
  const shown = newest === undefined ? by_version : by_version.slice(-newest);
  if (by_version.length === 0) return <p class="soft">No evaluations yet.</p>;
  const evaluations = (version: string) =>
    hrefOf({ screen: 'judges', id: judgeId, query: { tab: 'evaluations', judge_version: version } });
  return (
    <div class="table-box" role="region" aria-label="Agreement by judge version" tabIndex={0}>
      <table class="table">
        <caption class="unseen">Agreement by judge version, with 95% confidence intervals</caption>
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">κ, −1 to 1</th>
            <th scope="col">Agreement, 0 to 100%</th>
            <th scope="col" class="num">
              Reviewed
            </th>
            <th scope="col" class="num">
              Evaluations
            </th>
            <th scope="col" class="num">
              Instruction
            </th>
            <th scope="col" class="num" title="Revisions of the correction set that it drew examples from">
              Corrections
            </th>
            <th scope="col">Started</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((each) => (
            <tr key={each.version}>
              <th scope="row">
                <a href={evaluations(each.version)}>{each.version}</a>
              </th>
              <td>
                <Rate of={each.kappa} interval={each.kappa_interval} kind="kappa" wide />
              </td>
              <td>
                <Rate of={each.rate} interval={each.rate_interval} wide />
              </td>
              <td
                class="num"
                title={
                  each.not_counted === 0
                    ? undefined
                    : `${each.not_counted} not counted: the judge had already seen the correction`
                }
              >
                {count(each.count)}
              </td>
              <td class="num">{count(each.evaluations)}</td>
              <td class="num">{each.prompt_version === null ? NOTHING : `v${each.prompt_version}`}</td>
              <td class="num">{each.examples === null ? NOTHING : revisions(each.examples)}</td>
              <td>
                <When at={each.began_at} relative />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < by_version.length && (
        <p class="soft small">
          Showing the newest {shown.length} of {by_version.length} versions.{' '}
          <a href={hrefOf({ screen: 'judges', id: judgeId, query: { tab: 'agreement' } })}>Show all</a>
        </p>
      )}
    </div>
  );
}

function revisions({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? count(from) : `${count(from)} to ${count(to)}`;
}
