import { announce, announceError } from '../state/announce.js';
import { download } from '../state/files.js';
import { Menu } from './menu.js';

const FORMATS = { jsonl: 'JSON lines', csv: 'CSV', parquet: 'Parquet' } as const;

interface DownloadMenuProps {
  /** What answers the file, by the parameter `format`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly label: string;
}

/** Saves what a call answers as a file of the chosen format. */
export function DownloadMenu({ path, query, label }: DownloadMenuProps) {
  const save = async (format: string) => {
    announce('Downloading…');
    try {
      await download(path, new URLSearchParams([...query, ['format', format]]));
      announce('Download complete');
    } catch (error) {
      announceError(error);
    }
  };
  const items = Object.entries(FORMATS).map(([format, name]) => ({ label: name, run: () => void save(format) }));
  return (
    <Menu icon="download" items={items}>
      {label}
    </Menu>
  );
}
