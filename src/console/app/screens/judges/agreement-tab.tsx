import { count, kappa } from '../../../model/format.js';
import { kappaNote, nextEvaluation, perCallNote } from '../../../model/judge-versions.js';
import { AgreementByVersion } from '../../parts/agreement.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Tile } from '../../parts/figures.js';
import { Rate } from '../../parts/rate.js';
import { Answered } from '../../parts/states.js';
import { hrefOf } from '../../state/location.js';
import { ofJudge, useCalibration } from './data.js';
import type { JudgeTabProps } from './tab-props.js';

/** How far the judge and people agree: as a whole, by version, by week and by verdict. */
export function AgreementTab({ judge }: JudgeTabProps) {
  const evaluations = (query: Record<string, string>) =>
    hrefOf({ screen: 'judges', id: judge.id, query: { tab: 'evaluations', ...query } });
  return (
    <Answered answer={useCalibration(judge.id)}>
      {(report) => (
        <div class="stack">
          <div class="tiles">
            <Tile label="Agreement with people (κ)" note={kappaNote(report)}>
              {kappa(report.kappa)}
            </Tile>
            <Tile
              label="Agreements"
              href={evaluations({ agreement: 'agreed' })}
              note={`of ${count(report.count)} reviews, across ${count(report.spans)} spans`}
            >
              {count(report.agreed)}
            </Tile>
            <Tile label="Disagreements" href={evaluations({ agreement: 'disagreed' })}>
              {count(report.count - report.agreed)}
            </Tile>
            <Tile label="Without an evaluation" note="feedback on spans the judge had not evaluated">
              {count(report.without_evaluation)}
            </Tile>
          </div>
          <section class="stack">
            <div class="line apart">
              <h2>By judge version</h2>
              <CopyAsCurl path={ofJudge(judge.id, '/calibration')} />
            </div>
            <p class="soft">
              A version combines an instruction and the corrections that examples come from. Bars show 95% confidence
              intervals: if two do not overlap, the difference is unlikely to be chance. A new instruction starts a new
              version, as do revisions 1, 5, 10, 20, 50, … of the corrections. {nextEvaluation(report)}{' '}
              {perCallNote(report.corrections_per_call)}
            </p>
            <AgreementByVersion judgeId={judge.id} report={report} />
            {report.count === 0 && (
              <p>
                No reviewed verdicts yet.{' '}
                <a href={hrefOf({ screen: 'judges', id: judge.id, query: { tab: 'correct' } })}>Review verdicts</a>
              </p>
            )}
          </section>
          <Verdicts of={report.verdicts} />
          {report.by_week.length > 0 && (
            <section class="stack">
              <h2>By week</h2>
              <div class="table-box" role="region" aria-label="Agreement by week" tabIndex={0}>
                <table class="table">
                  <thead>
                    <tr>
                      <th scope="col">Week</th>
                      <th scope="col">κ, −1 to 1</th>
                      <th scope="col">Agreement, 0 to 100%</th>
                      <th scope="col" class="num">
                        Reviewed
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {report.by_week.map((week) => (
                      <tr key={week.week}>
                        <th scope="row">{week.week}</th>
                        <td>
                          <Rate of={week.kappa} interval={week.kappa_interval} kind="kappa" wide />
                        </td>
                        <td>
                          <Rate of={week.rate} interval={week.rate_interval} wide />
                        </td>
                        <td class="num">{count(week.count)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </section>
          )}
        </div>
      )}
    </Answered>
  );
}

interface VerdictsProps {
  readonly of: {
    readonly both_pass: number;
    readonly judge_pass_human_fail: number;
    readonly judge_fail_human_pass: number;
    readonly both_fail: number;
  };
}

/** Verdicts of judge and people against each other. */
function Verdicts({ of }: VerdictsProps) {
  return (
    <section class="stack">
      <h2>By verdict</h2>
      <div class="table-box verdicts">
        <table class="table">
          <caption class="unseen">Evaluated spans by judge verdict and human verdict</caption>
          <thead>
            <tr>
              <th scope="col">Judge</th>
              <th scope="col" class="num">
                people: passed
              </th>
              <th scope="col" class="num">
                people: failed
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">passed</th>
              <td class="num">{count(of.both_pass)}</td>
              <td class="num">{count(of.judge_pass_human_fail)}</td>
            </tr>
            <tr>
              <th scope="row">failed</th>
              <td class="num">{count(of.judge_fail_human_pass)}</td>
              <td class="num">{count(of.both_fail)}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  );
}
