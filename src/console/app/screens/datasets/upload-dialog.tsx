import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, percent } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { upload } from '../../state/files.js';
import { setQuery } from '../../state/location.js';
import { datasetsChanged, pathOfDataset, type Dataset, type Version } from './data.js';

/** Media types by the end of a file's name. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  jsonl: 'application/x-ndjson',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};
const MODES = [
  ['merge', 'Merge: replace rows with known IDs, add the others, keep all else'],
  ['replace', 'Replace: the file has all rows of the new version'],
] as const;

interface UploadDialogProps {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}

/** Makes a version of a file. */
export function UploadDialog({ dataset, onClose }: UploadDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [mode, setMode] = useState<string>('merge');
  const [message, setMessage] = useState('');
  const [sent, setSent] = useState(0);
  const { busy, failure, run } = useAction();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const contentType = TYPES[file?.name.split('.').at(-1)?.toLowerCase() ?? ''];
  const refused =
    file === null
      ? 'Choose a file'
      : contentType === undefined
        ? 'The name must end in .csv, .jsonl or .parquet'
        : null;
  const send = async () => {
    if (file === null || contentType === undefined) return;
    setSent(0);
    const before = dataset.latest_version?.version_number ?? 0;
    const query = { mode, message: message.trim() || null };
    const { signal } = abort.current;
    const path = `${pathOfDataset(dataset.name)}/versions`;
    const { version_number: number } = (await upload(path, {
      query,
      file,
      contentType,
      signal,
      onProgress: setSent,
    })) as Version;
    announce(number === before ? 'Nothing changed: the newest version has the same rows' : `Version ${number} saved`);
    await datasetsChanged();
    setQuery({ version: null, offset: null, row: null }, { replace: true });
    onClose();
  };
  return (
    <Dialog title="Upload a file" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (refused === null) run(send);
        }}
      >
        <Field
          label="File"
          hint="CSV (the first line names the columns), JSON lines or Parquet. A column row_id, or else id, tells rows apart."
          wrong={file !== null && contentType === undefined ? refused : null}
        >
          <input
            class="input"
            type="file"
            accept=".csv,.jsonl,.ndjson,.parquet"
            onChange={({ currentTarget: { files } }) => setFile(files?.[0] ?? null)}
          />
        </Field>
        <Field label="Rows that exist already">
          <select class="input" value={mode} onChange={({ currentTarget: { value } }) => setMode(value)}>
            {MODES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Message" hint="Optional: what changes.">
          <input
            class="input"
            maxLength={10_000}
            value={message}
            onInput={({ currentTarget: { value } }) => setMessage(value)}
          />
        </Field>
        {busy && (
          <p class="line" role="status">
            <progress value={sent} max={1} aria-label="Sent" />
            {sent < 1 ? `${percent(sent)} of ${bytes(file?.size)} sent` : 'Storing the rows…'}
          </p>
        )}
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button type="submit" look="main" changes busy={busy} refused={refused}>
            Upload
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
