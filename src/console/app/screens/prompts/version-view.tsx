import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { VisibleText } from '../../parts/visible-text.js';
import { hrefOf, hrefWith, navigate } from '../../state/location.js';
import { PRODUCTION, tagsOf } from './data.js';
import type { TagEntry } from './versions.js';
import { DeleteVersion } from './delete-dialogs.js';
import { EditorDialog } from './editor-dialog.js';
import { ModelDialog } from './model-dialog.js';
import { PinDialog } from './pin-dialog.js';
import { PromptText } from './prompt-text.js';
import { TagBadge } from './tag-badge.js';

interface VersionViewProps {
  readonly version: PromptVersionRead;
  readonly tags: readonly TagEntry[];
  readonly latest: number;
  /** Chooses what it is compared with. */
  readonly choice: ComponentChildren;
  /** What changed in it since another; null: its text is shown. */
  readonly changes: ComponentChildren | null;
}

/** A version: what can be done with it, what is known of it, its text. */
export function VersionView({ version, tags, latest, choice, changes }: VersionViewProps) {
  const { prompt: slug, version: number } = version;
  const [open, setOpen] = useState<'edit' | 'pin' | 'model' | 'delete' | null>(null);
  const close = () => setOpen(null);
  return (
    <div class="stack">
      <div class="line apart">
        <h2 class="line">
          Version {number}
          {tagsOf(tags, number).map((tag) => (
            <TagBadge key={tag} tag={tag} />
          ))}
        </h2>
        <div class="line">
          <Button look="main" icon="edit" changes onClick={() => setOpen('edit')}>
            Edit as new version
          </Button>
          <Button icon="pin" changes onClick={() => setOpen('pin')}>
            Pin tag
          </Button>
          <Button icon="model" changes onClick={() => setOpen('model')}>
            Model
          </Button>
          <Button
            look="danger"
            icon="trash"
            changes
            label={`Delete version ${number}`}
            onClick={() => setOpen('delete')}
          />
        </div>
      </div>
      <Known version={version} />
      <div class="line apart">
        {choice}
        <nav class="line" aria-label="Pages of this version">
          <CopyButton text={version.content} what={version.messages === undefined ? 'Text' : 'Messages'} />
          <CopyAsCurl path={`/v1/prompts/${encodeURIComponent(slug)}`} query={{ version: number }} />
          <Elsewhere slug={slug} version={number} />
        </nav>
      </div>
      {changes ?? <Content key={version.id} version={version} />}
      {open === 'edit' && (
        <EditorDialog
          slug={slug}
          base={version}
          latest={latest}
          onClose={close}
          onSaved={(saved) => navigate(hrefWith({ a: String(number), b: String(saved.version), offset: null }))}
        />
      )}
      {open === 'pin' && (
        <PinDialog slug={slug} tags={tags} proposed={{ tag: PRODUCTION, version: number }} onClose={close} />
      )}
      {open === 'model' && <ModelDialog version={version} onClose={close} />}
      {open === 'delete' && <DeleteVersion version={version} onClose={close} />}
    </div>
  );
}

function Known({ version }: { readonly version: PromptVersionRead }) {
  const { model_id, created_at, updated_at, id, content_hash, metadata, config } = version;
  return (
    <dl class="pairs">
      <dt>Model</dt>
      <dd>{model_id === null ? NOTHING : <bdi>{model_id}</bdi>}</dd>
      <dt>Created</dt>
      <dd>
        <When at={created_at} />
        {updated_at !== created_at && (
          <>
            , model set <When at={updated_at} />
          </>
        )}
      </dd>
      <dt>ID</dt>
      <dd class="line whole">
        <code>{id}</code> <CopyButton text={id} what="Version ID" />
      </dd>
      <dt>Hash</dt>
      <dd>
        <code class="soft" title={`SHA-256 ${content_hash}`}>
          {content_hash.slice(0, 16)}…
        </code>
      </dd>
      {config !== undefined && <Json name="Config" value={config} isOpen />}
      {Object.keys(metadata).length > 0 && <Json name="Metadata" value={metadata} />}
    </dl>
  );
}

interface JsonProps {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly isOpen?: boolean;
}

function Json({ name, value, isOpen = false }: JsonProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <details open={isOpen}>
          <summary>
            <bdi>
              <VisibleText text={Object.keys(value).slice(0, 5).join(', ')} />
            </bdi>
          </summary>
          <pre class="prompt-text">
            <VisibleText text={JSON.stringify(value, null, 2)} />
          </pre>
        </details>
      </dd>
    </>
  );
}

/** The text, or each message behind its role. */
function Content({ version: { content, messages } }: { readonly version: PromptVersionRead }) {
  if (messages === undefined) return <PromptText text={content} />;
  return (
    <ol class="prompt-messages">
      {messages.map((message, index) => (
        <li key={index} class="stack">
          <p class="soft small">
            {index + 1}. <bdi>{'name' in message ? 'placeholder' : message.role}</bdi>
          </p>
          {'name' in message ? (
            <p>
              Messages named <code>{message.name}</code> are inserted here.
            </p>
          ) : (
            <PromptText text={message.content} label={`Message ${index + 1}`} />
          )}
        </li>
      ))}
    </ol>
  );
}

/** Where else the completions of a version are shown. */
function Elsewhere({ slug, version }: { readonly slug: string; readonly version: number }) {
  const completions = { tab: 'completions', version: String(version) };
  const spans = { prompt_slug: slug, prompt_version: String(version), range: 'all' };
  return (
    <>
      <a class="button quiet" href={hrefOf({ screen: 'prompts', id: slug, query: completions })}>
        <Icon name="check" /> Completions
      </a>
      <a class="button quiet" href={hrefOf({ screen: 'spans', query: spans })}>
        <Icon name="spans" /> Spans
      </a>
    </>
  );
}
