import { Link } from '../../parts/markdown.js';
import { Answered } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { useAsked, type OpenDocument } from '../../state/documents.js';
import { base } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import type { SpanHeadRead } from './span-head.js';

interface SpanImagesProps {
  readonly document: OpenDocument;
  readonly span: SpanHeadRead;
}

/** The images of a span, once they are scrolled to. Those of elsewhere are links. */
export function SpanImages({ document, span: { id } }: SpanImagesProps) {
  const may = useAsked(() => document.ask('mayHaveImages'), [document]);
  const answer = useQuery({
    key: [`/spans/${id}/attachments`],
    ask: (signal) => call('GET /spans/:span_id/attachments', { params: { span_id: id }, signal }),
    enabled: may === true,
  });
  if (may !== true) return null;
  return (
    <Answered answer={answer} rows={2}>
      {({ attachments }) =>
        attachments.length === 0 ? null : (
          <section class="stack">
            <h3>{attachments.some(isFile) ? 'Images and files' : 'Images'}</h3>
            <ul class="span-images">
              {attachments.map((each) => (
                <li key={each.url}>
                  {isFile(each) ? (
                    <a href={ownSource(each.url) ?? each.url} download rel="noreferrer noopener">
                      Download {each.media_type}
                    </a>
                  ) : (
                    <Image url={each.url} label={each.label ?? each.type} />
                  )}
                </li>
              ))}
            </ul>
          </section>
        )
      }
    </Answered>
  );
}

/** What is no image is never shown in a page. */
function isFile({ media_type: type }: { readonly media_type?: string }): boolean {
  return type !== undefined && !type.startsWith('image/');
}

/** An image that the server keeps. One of elsewhere is a link. */
export function Image({ url, label }: { readonly url: string; readonly label: string }) {
  const source = ownSource(url);
  if (source === null) return <Link href={url}>External image: {label}</Link>;
  return (
    <figure>
      <a href={source} target="_blank" rel="noreferrer noopener">
        <img src={source} alt={label} loading="lazy" />
      </a>
      <figcaption class="soft small">
        <bdi>{label}</bdi>
      </figcaption>
    </figure>
  );
}

/** Where an image that the server keeps is loaded from; null: it is kept elsewhere. */
function ownSource(url: string): string | null {
  const { pathname, search } = new URL(url, window.location.href);
  // The server may be known by another name than its public one.
  const at = pathname.indexOf('/attachments/');
  return at >= 0 && /[?&]signature=/.test(search) ? base + pathname.slice(at) + search : null;
}
