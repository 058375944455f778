import type { JudgeRead } from '../../../../features/judges/schema.js';

export interface JudgeTabProps {
  readonly judge: JudgeRead;
}
