import type { TimeRange, TraceView } from './trace-view.js';

/** The shortest time that can be looked at, as a part of the whole. */
const LEAST = 1e-6;

/** Shows a shorter or longer time around the middle of what is shown. */
export function zoomBy(view: TraceView, factor: number): void {
  const { from, to } = view.zoom.peek() ?? view.bounds.peek();
  const [middle, half] = [(from + to) / 2, ((to - from) / 2) * factor];
  show(view, { from: middle - half, to: middle + half });
}

/** Shows the time before or after what is shown. @param share of what is shown */
export function pan(view: TraceView, share: number): void {
  const { from, to } = view.zoom.peek() ?? view.bounds.peek();
  const by = (to - from) * share;
  show(view, { from: from + by, to: to + by });
}

/** Shows a time, as far as the trace has it. */
export function show(view: TraceView, { from, to }: TimeRange): void {
  const bounds = view.bounds.peek();
  const whole = bounds.to - bounds.from;
  const length = Math.max(to - from, whole * LEAST);
  if (length >= whole) {
    view.zoom.value = null;
    return;
  }
  const begin = Math.min(Math.max(from, bounds.from), bounds.to - length);
  view.zoom.value = { from: begin, to: begin + length };
}
