import { Menu } from '../../parts/menu.js';
import { announce } from '../../state/announce.js';
import { download } from '../../state/files.js';
import { pathOfDataset } from './data.js';

const FORMATS = { jsonl: 'JSON lines', csv: 'CSV', parquet: 'Parquet' } as const;

/** Downloads a version as a file. */
export function DownloadMenu({ name, number }: { readonly name: string; readonly number: number }) {
  const get = (format: string) => {
    announce('Downloading…');
    download(`${pathOfDataset(name)}/download`, { ref: String(number), format }).catch((error: unknown) =>
      announce(error instanceof Error ? error.message : String(error), { bad: true }),
    );
  };
  return (
    <Menu icon="download" items={Object.entries(FORMATS).map(([format, label]) => ({ label, run: () => get(format) }))}>
      Download
    </Menu>
  );
}
