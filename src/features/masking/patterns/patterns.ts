import type { MaskingRule } from '../rule.js';
import type { TextRule } from '../text-masker.js';
import { findApiKeys } from './api-key.js';
import { findCards } from './card.js';
import { findEmails } from './email.js';
import { expressionSearch } from './expression.js';
import type { Finder, Search } from './finder.js';
import { findIbans } from './iban.js';
import { phoneFinder } from './phone.js';

/** Where phone numbers without a country code are from, unless a rule says it. */
const COUNTRIES = ['US'];

type Found = Pick<TextRule, 'find' | 'mayFind'>;

const hasDigits = (text: string) => /\d/.test(text);
const always = () => true;
const atOnce =
  (find: Finder): Search =>
  (text, found) => {
    find(text, found);
    return null;
  };

/** What a rule looks for in texts; null: it names a path. */
export function textRuleOf({ type, expression, countries }: MaskingRule): Found | null {
  switch (type) {
    case 'email':
      return { find: atOnce(findEmails), mayFind: (text) => text.includes('@') };
    case 'phone':
      return { find: atOnce(phoneFinder(countries ?? COUNTRIES)), mayFind: hasDigits };
    case 'card':
      return { find: atOnce(findCards), mayFind: hasDigits };
    case 'iban':
      return { find: atOnce(findIbans), mayFind: hasDigits };
    case 'api_key':
      return { find: atOnce(findApiKeys), mayFind: always };
    case 'expression':
      return { find: expressionSearch(expression ?? ''), mayFind: always };
    case 'path':
      return null;
  }
}
