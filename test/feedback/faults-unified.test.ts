import { largeFeedback } from './large-feedback.js';

largeFeedback({ itemsOfSpan: 1_000, traces: 10_000, given: 1_000 });
