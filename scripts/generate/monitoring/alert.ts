/** Series of a test, as promtool writes them. */
export type Series = Readonly<Record<string, string>>;

/** A rule, with the test that it fires when it should and only then. */
export interface Alert {
  readonly name: string;
  /** critical: somebody is woken up, as data is refused or nothing is answered. */
  readonly severity: 'critical' | 'warning';
  /** What is the case when it fires, for the manual. */
  readonly means: string;
  readonly query: string;
  readonly for: string;
  readonly summary: string;
  /** What to do. */
  readonly description: string;
  readonly test: {
    /** Fires at this time, an evaluation each minute, and not before `for` is over. */
    readonly at: string;
    /** One or several ways in which it may come to that. */
    readonly ill: Series | readonly Series[];
    readonly well: Series | readonly Series[];
    /** Labels besides instance and severity. */
    readonly labels?: Readonly<Record<string, string>>;
    /** `{{ $value … }}` as it is shown at that time. */
    readonly value?: string;
  };
}

/** The server of the tests, as a label. */
export const I = 'instance="spanhouse:4318"';
