import type { ProblemDetails } from '../../../http/errors.js';
import { ApiError, pathWith, request, type Parameters } from './api.js';
import { base, place } from './location.js';

interface Wanted {
  /** Media type. */
  readonly type: string;
  /** Of the file, where the answer says none. */
  readonly name: string;
}

/** Saves what a call answers as a file, under the name that the answer says. @throws ApiError */
export async function download(path: string, query: Parameters, wanted?: Wanted): Promise<void> {
  const response = await request(path, { query, ...(wanted !== undefined && { headers: { Accept: wanted.type } }) });
  const [, name = wanted?.name ?? 'download'] =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  const url = URL.createObjectURL(await response.blob());
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // Not before the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

interface Upload {
  readonly query: Parameters;
  readonly file: File;
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** @param sent share of the bytes, 0 to 1 */
  readonly onProgress: (sent: number) => void;
}

/** Sends a file as it is. @returns the JSON of the answer @throws ApiError */
export function upload(path: string, { query, file, contentType, signal, onProgress }: Upload): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // `fetch` does not tell how much is sent.
    const sending = new XMLHttpRequest();
    sending.open('POST', base + pathWith(path, query));
    sending.setRequestHeader('Content-Type', contentType);
    if (place.value.project !== null) sending.setRequestHeader('Spanhouse-Project', place.value.project);
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    const refuse = (problem: Partial<ProblemDetails>) => reject(new ApiError(sending.status, problem));
    sending.onload = () => {
      const answer = answerIn(sending.responseText);
      if (sending.status < 300) resolve(answer);
      else refuse(answer ?? {});
    };
    sending.onerror = () =>
      refuse({
        title: 'The upload was interrupted',
        detail: 'The server was not reached, or the file is larger than it takes (MAX_BODY_MB). Nothing is stored.',
      });
    sending.onabort = () => refuse({ title: 'Upload canceled', detail: 'Nothing is stored unless all was sent.' });
    signal.addEventListener('abort', () => sending.abort());
    sending.send(file);
  });
}

function answerIn(text: string): Partial<ProblemDetails> | null {
  try {
    return JSON.parse(text) as Partial<ProblemDetails>;
  } catch {
    return null;
  }
}
