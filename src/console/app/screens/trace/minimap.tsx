import { useComputed, useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { lookOf, type KindLook } from '../../../model/kind.js';
import { at } from '../../../model/trace-tree.js';
import { theme } from '../../state/preferences.js';
import { show } from './zooming.js';
import type { TraceView } from './trace-view.js';

const HEIGHT = 40;
const LOOKS: readonly KindLook[] = ['model', 'tool', 'agent', 'retrieval', 'http', 'database', 'speech', 'other'];

const systemDark = matchMedia('(prefers-color-scheme: dark)');

/**
 * The whole trace in one picture, drawn once, with the part that is shown. Dragging chooses a part; buttons and keys do the
 * same, so the picture itself is none of what is read out.
 */
export function Minimap({ view }: { readonly view: TraceView }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const [width, setWidth] = useState(0);
  const outline = view.outline.value;
  const [dark, setDark] = useState(systemDark.matches);
  useEffect(() => {
    const onChange = () => setDark(systemDark.matches);
    systemDark.addEventListener('change', onChange);
    return () => systemDark.removeEventListener('change', onChange);
  }, []);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current !== null && probe.current !== null && width > 0)
      draw(canvas.current, probe.current, view, width);
  }, [outline, width, theme.value, dark]);
  const hidden = useComputed(() => view.zoom.value === null);
  return (
    <div class="minimap" aria-hidden="true">
      <canvas ref={canvas} height={HEIGHT} onPointerDown={(event) => choose(event, view)} />
      <ShownPart view={view} hidden={hidden.value} />
      <span ref={probe} hidden />
    </div>
  );
}

function ShownPart({ view, hidden }: { readonly view: TraceView; readonly hidden: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  useSignalEffect(() => {
    const { from, to } = view.bounds.value;
    const zoom = view.zoom.value ?? { from, to };
    element.current?.style.setProperty('left', `${((zoom.from - from) / (to - from)) * 100}%`);
    element.current?.style.setProperty('width', `${((zoom.to - zoom.from) / (to - from)) * 100}%`);
  });
  return <span ref={element} class="minimap-part" hidden={hidden} />;
}

function draw(canvas: HTMLCanvasElement, probe: HTMLElement, view: TraceView, width: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(HEIGHT * scale);
  const colors = new Map<KindLook | 'error', string>(LOOKS.map((look) => [look, colorOf(probe, `kind-${look}`)]));
  colors.set('error', colorOf(probe, 'bad'));
  const { outline, tree, bounds } = {
    outline: view.outline.peek(),
    tree: view.tree.peek(),
    bounds: view.bounds.peek(),
  };
  const perMs = canvas.width / (bounds.to - bounds.from);
  const perNode = canvas.height / tree.size;
  const height = Math.max(scale, Math.min(perNode, 3 * scale));
  for (let node = 0; node < tree.size; node += 1) {
    const span = at(tree.span, node);
    const start = at(outline.start, span);
    const length = outline.duration[span] ?? bounds.to - start;
    context.fillStyle = colors.get(outline.hasError(span) ? 'error' : lookOf(outline.kindOf(span))) ?? '';
    context.fillRect((start - bounds.from) * perMs, node * perNode, Math.max(scale, length * perMs), height);
  }
}

/** Colors are the style sheet's, in the theme of the moment. */
function colorOf(probe: HTMLElement, name: string): string {
  probe.className = name;
  return getComputedStyle(probe).color;
}

function choose(down: PointerEvent, view: TraceView): void {
  const element = down.currentTarget as HTMLElement;
  const { left, width } = element.getBoundingClientRect();
  const { from, to } = view.bounds.peek();
  const timeAt = ({ clientX }: PointerEvent) => from + ((clientX - left) / width) * (to - from);
  const begin = timeAt(down);
  const onMove = (event: PointerEvent) => {
    const end = timeAt(event);
    if (Math.abs(event.clientX - down.clientX) > 3)
      show(view, { from: Math.min(begin, end), to: Math.max(begin, end) });
  };
  element.setPointerCapture(down.pointerId);
  element.addEventListener('pointermove', onMove);
  element.addEventListener('lostpointercapture', () => element.removeEventListener('pointermove', onMove), {
    once: true,
  });
}
