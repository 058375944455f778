import { configText, versionText, type VersionContent } from '../../../model/prompt-version.js';
import { TextDiff } from '../../parts/text-diff.js';

interface VersionDiffProps {
  readonly before: VersionContent;
  readonly after: VersionContent;
  /** What they are, such as `Version 1`. */
  readonly labels: readonly [before: string, after: string];
}

/** Two versions compared: their texts, message by message, and their configs by lines of JSON. */
export function VersionDiff({ before, after, labels }: VersionDiffProps) {
  const [texts, configs] = [
    [versionText(before), versionText(after)] as const,
    [configText(before), configText(after)] as const,
  ];
  const sameConfig = configs[0] === configs[1];
  return (
    <div class="stack">
      {(texts[0] !== texts[1] || sameConfig) && <TextDiff before={texts[0]} after={texts[1]} labels={labels} />}
      {!sameConfig && (
        <section class="stack" aria-label="Config changes">
          <h3>Config</h3>
          <TextDiff
            before={configs[0]}
            after={configs[1]}
            labels={[`Config of ${labels[0]}`, `Config of ${labels[1]}`]}
            isOneOfMany
          />
        </section>
      )}
    </div>
  );
}
