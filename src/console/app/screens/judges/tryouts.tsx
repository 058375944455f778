import type { JudgePreviewRead } from '../../../../features/judges/preview-schema.js';
import { compact } from '../../../model/format.js';
import { Cost, Took } from '../../parts/figures.js';
import { JsonView } from '../../parts/json-view.js';
import { PlainText } from '../../parts/markdown.js';
import { VerdictShown } from '../../parts/verdict.js';

interface TryoutsProps {
  readonly tried: JudgePreviewRead['tried'];
  readonly sample: JudgePreviewRead['sample'];
}

/** What the model says of the spans that were tried, and what it was asked. */
export function Tryouts({ tried, sample }: TryoutsProps) {
  return (
    <div class="stack">
      {tried.map((tryout) => (
        <article key={tryout.span_id} class="stack tryout">
          <h3>
            <bdi>{sample.find(({ id }) => id === tryout.span_id)?.name ?? tryout.span_id}</bdi>
          </h3>
          {tryout.failure !== null && <p class="bad">{tryout.failure}</p>}
          {tryout.verdict !== null && <VerdictShown of={tryout.verdict} />}
          <p class="soft small line">
            <bdi>{tryout.model_used}</bdi>
            <Took ms={tryout.duration_ms} />
            <span>
              {compact(tryout.input_tokens)} tokens in, {compact(tryout.output_tokens)} out
            </span>
            <Cost of={tryout.cost} />
          </p>
          {tryout.request !== null && (
            <details>
              <summary>Request as sent</summary>
              {tryout.request.messages.map(({ role, content }, index) => (
                <section key={index} class="stack">
                  <h4 class="soft small">{role}</h4>
                  <PlainText text={content} />
                </section>
              ))}
              {tryout.request.schema !== null && <JsonView value={tryout.request.schema} label="Response schema" />}
            </details>
          )}
        </article>
      ))}
    </div>
  );
}
