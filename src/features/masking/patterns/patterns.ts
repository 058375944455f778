import type { MaskingRule } from '../rule.js';
import type { TextRule } from '../text-masker.js';
import { findApiKeys } from './api-key.js';
import { findCards } from './card.js';
import { findEmails } from './email.js';
import { expressionFinder } from './expression.js';
import { findIbans } from './iban.js';
import { phoneFinder } from './phone.js';

/** Where phone numbers without a country code are from, unless a rule says it. */
const COUNTRIES = ['US'];

type Found = Pick<TextRule, 'find' | 'mayFind'>;

const hasDigits = (text: string) => /\d/.test(text);
const always = () => true;

/** What a rule looks for in texts; null: it names a path. */
export function textRuleOf({ type, expression, countries }: MaskingRule): Found | null {
  switch (type) {
    case 'email':
      return { find: findEmails, mayFind: (text) => text.includes('@') };
    case 'phone':
      return { find: phoneFinder(countries ?? COUNTRIES), mayFind: hasDigits };
    case 'card':
      return { find: findCards, mayFind: hasDigits };
    case 'iban':
      return { find: findIbans, mayFind: hasDigits };
    case 'api_key':
      return { find: findApiKeys, mayFind: always };
    case 'expression':
      return { find: expressionFinder(expression ?? ''), mayFind: always };
    case 'path':
      return null;
  }
}
