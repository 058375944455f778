import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Notices } from '../../parts/notices.js';

/** On a phone, a span takes the whole screen. */
export function SpanSheet({
  onClose,
  children,
}: {
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
    return () => element.current?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class="sheet"
      aria-label="Span"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {children}
      <Notices />
    </dialog>
  );
}
