import { useState } from 'preact/hooks';
import { rangeLabel, RANGES, type TimeRange } from '../../model/range.js';
import { writeTime, zoneNames } from '../../model/time.js';
import { clockTime, momentOf } from '../../model/zoned-time.js';
import { setQuery } from '../state/location.js';
import { zone } from '../state/preferences.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { Field } from './field.js';
import { Menu } from './menu.js';

/** Has the view show another time; `offset` goes, as pages of another time are others. */
export function chooseRange(range: Partial<TimeRange>): void {
  setQuery({ range: range.range ?? null, from: range.from ?? null, to: range.to ?? null, offset: null });
}

/** The time that a view shows, and the choice of another: a length back from now, two times, or all. */
export function RangePicker({ range }: { readonly range: TimeRange }) {
  const [between, setBetween] = useState(false);
  const label = rangeLabel(range, (time) => writeTime(time, zone.value));
  const lengths = Object.entries(RANGES).map(([name, words]) => ({
    label: `Last ${words}`,
    checked: range.range === name,
    run: () => chooseRange({ range: name }),
  }));
  return (
    <>
      <Menu
        icon="clock"
        items={[
          ...lengths,
          { label: 'All time', checked: range.range === 'all', run: () => chooseRange({ range: 'all' }) },
          { label: 'Custom range…', checked: range.range === null, run: () => setBetween(true) },
        ]}
      >
        <span class="clip">
          <span class="unseen">Time: </span>
          {label} <span class="soft">{zoneNames(zone.value, moment(range.from ?? range.to), moment(range.to))}</span>
        </span>
      </Menu>
      {between && <Between range={range} onClose={() => setBetween(false)} />}
    </>
  );
}

/** Of a bound that is none, or counted back from now: now. */
const moment = (time: string | null) => Date.parse(time ?? '') || Date.now();

function Between({ range, onClose }: { readonly range: TimeRange; readonly onClose: () => void }) {
  const inZone = (time: string | null, otherwise: string) =>
    time === null || Number.isNaN(Date.parse(time)) ? otherwise : clockTime(time, zone.value);
  const [from, setFrom] = useState(() => inZone(range.from, clockTime(Date.now() - 3_600_000, zone.value)));
  const [to, setTo] = useState(() => inZone(range.to, ''));
  const chosen = (clock: string, before: string | null) => {
    if (clock === '') return null;
    const time = momentOf(clock, zone.value);
    // What no one changed stays exact: clocks show some times twice, and no parts of seconds.
    return time === momentOf(inZone(before, ''), zone.value) ? before : time;
  };
  const [start, end] = [chosen(from, range.from), chosen(to, range.to)];
  const wrong = start !== null && end !== null && Date.parse(start) >= Date.parse(end) ? 'End is before start' : null;
  const apply = () => {
    if (wrong !== null || (start === null && end === null)) return;
    chooseRange({ from: start, to: end });
    onClose();
  };
  const field = (value: string, set: (value: string) => void) => (
    <input
      class="input"
      type="datetime-local"
      step="1"
      value={value}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
  return (
    <Dialog title="Custom range" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <Field label="From" hint="Leave empty for no start">
          {field(from, setFrom)}
        </Field>
        <Field label="To" hint="Leave empty for now" wrong={wrong}>
          {field(to, setTo)}
        </Field>
        <p class="soft">
          Times in {zone.value}
          {zone.value !== 'UTC' && ` (${zoneNames(zone.value, moment(start ?? end), moment(end ?? start))})`}.
        </p>
        <div class="line">
          <Button type="submit" look="main" refused={start === null && end === null ? 'Enter at least one time' : null}>
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
