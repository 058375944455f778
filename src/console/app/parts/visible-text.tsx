import { hasControls, piecesByControls } from '../../model/bidi-controls.js';

interface VisibleTextProps {
  readonly text: string;
  /** Runs of controls that are shown; those behind them reorder nothing but each other. */
  readonly most?: number;
}

/**
 * A text of which nothing is reordered: what would do so is named where it stands, and isolated, so that it does nothing. It is
 * still there when the text is copied.
 */
export function VisibleText({ text, most = 500 }: VisibleTextProps) {
  if (!hasControls(text)) return <>{text}</>;
  return (
    <>
      {piecesByControls(text, most).map((piece, index) =>
        piece.controls === null ? (
          <bdi key={index}>{piece.text}</bdi>
        ) : (
          <bdi key={index} class="control" data-code={piece.controls} title="Would reorder the text that follows">
            {piece.text}
          </bdi>
        ),
      )}
    </>
  );
}
