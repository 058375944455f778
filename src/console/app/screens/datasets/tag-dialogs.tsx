import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Ending } from '../../parts/ending.js';
import { Form } from '../../parts/form.js';
import { TagField } from '../../parts/tag-field.js';
import { announce } from '../../state/announce.js';
import { call, pathOf } from '../../state/api.js';
import { datasetsChanged } from './data.js';
import type { Tag } from './version-choice.js';

interface PinTagProps {
  readonly name: string;
  readonly number: number;
  readonly tags: readonly Tag[];
  readonly onClose: () => void;
}

/** Points a tag, or a new one, to a version. */
export function PinTag({ name, number, tags, onClose }: PinTagProps) {
  const [tag, setTag] = useState('');
  const movable = tags.filter((each) => each.tag !== 'latest');
  const now = movable.find((each) => each.tag === tag)?.version_number;
  const refused = tag === '' ? 'Enter a tag' : now === number ? `${tag} already points to version ${number}` : null;
  const pin = async () => {
    await call('POST /v1/datasets/:name+/tags/:tag:pin', { params: { name, tag }, body: { version_number: number } });
    announce(`Tag ${tag} now points to version ${number}`);
    await datasetsChanged();
    onClose();
  };
  return (
    <Dialog title={`Pin a tag to version ${number}`} onClose={onClose}>
      <Form action="Pin tag" icon="pin" refused={refused} onSend={pin} onCancel={onClose}>
        <TagField
          hint="An existing tag or a new one. Programs that ask for the tag get this version."
          tag={tag}
          known={movable.map((each) => each.tag)}
          autofocus
          onInput={setTag}
        />
        {now !== undefined && now !== number && (
          <p>
            {tag} points to version {now} now, and moves.
          </p>
        )}
      </Form>
    </Dialog>
  );
}

interface RemoveTagProps {
  readonly name: string;
  readonly tag: Tag;
  readonly onClose: () => void;
}

/** Removes a tag; its history stays. */
export function RemoveTag({ name, tag: { tag, version_number: number }, onClose }: RemoveTagProps) {
  return (
    <Ending
      title={`Remove tag ${tag}?`}
      action={`Remove ${tag}`}
      path={pathOf('DELETE /v1/datasets/:name+/tags/:tag', { params: { name, tag } })}
      done={`Tag ${tag} removed`}
      onDone={datasetsChanged}
      onClose={onClose}
    >
      <p>It points to version {number}. Programs that ask for the tag will get 404. You can pin it again.</p>
    </Ending>
  );
}
