export interface ScreenProps {
  /** What stands behind the screen in the address; null: the screen as a whole. */
  readonly id: string | null;
}
