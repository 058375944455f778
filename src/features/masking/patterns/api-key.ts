import type { Finder } from './finder.js';

/** How keys of well-known providers look. Each begins with a text of its own, so that none is guessed by how random it looks. */
const KEYS: readonly string[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse, and others that write `sk-`
  'sk-[A-Za-z0-9_-]{20,}',
  'pk-lf-[A-Za-z0-9-]{20,}',
  'lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}',
  // Spanhouse and its Python SDK
  'sk_(?:sh|ze)_[A-Za-z0-9_-]{16,}',
  // Google, Groq, xAI, Perplexity, Hugging Face, Replicate, Pinecone
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  'gsk_[A-Za-z0-9]{32,}',
  'xai-[A-Za-z0-9]{32,}',
  'pplx-[A-Za-z0-9]{32,}',
  'hf_[A-Za-z0-9]{30,}',
  'r8_[A-Za-z0-9]{30,}',
  'pcsk_[A-Za-z0-9_]{30,}',
  // AWS
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])',
  // GitHub, GitLab, npm, PyPI, Docker
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'glpat-[A-Za-z0-9_-]{20,}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{32,}',
  'dckr_pat_[A-Za-z0-9_-]{20,}',
  // Slack, Stripe, SendGrid, Twilio, Mailgun, Shopify, Square, DigitalOcean, Linear, Notion, Postman, Databricks
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[0-9]-[A-Za-z0-9-]{10,}',
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=]{24,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'key-[0-9a-f]{32}(?![A-Za-z0-9])',
  'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}',
  'sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}',
  'EAAA[A-Za-z0-9_-]{60}',
  'do[opr]_v1_[a-f0-9]{64}',
  'lin_api_[A-Za-z0-9]{32,}',
  'ntn_[A-Za-z0-9]{40,}',
  'PMAK-[a-f0-9]{24}-[a-f0-9]{34}',
  'dapi[a-f0-9]{32}',
  // Tokens signed as JWT
  'eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
];

/** A key begins where no word goes on; the `n` of an escaped line break is none. So each run of its characters is tried once. */
const KEY = new RegExp(`(?:(?<![A-Za-z0-9_-])|(?<=\\\\[nrt]))(?:${KEYS.join('|')})`, 'g');

const BEGIN = '-----BEGIN ';
const END = '-----END ';

/** Finds keys of providers, tokens and private keys. */
export const findApiKeys: Finder = (text, found) => {
  const blocks = privateKeys(text);
  let block = 0;
  for (const { 0: value, index } of text.matchAll(KEY)) {
    for (let next = blocks[block]; next !== undefined && next.start <= index; next = blocks[++block])
      found(next.start, next.end, text.slice(next.start, next.end));
    const last = blocks[block - 1];
    if (last === undefined || index >= last.end) found(index, index + value.length, value);
  }
  for (const { start, end } of blocks.slice(block)) found(start, end, text.slice(start, end));
};

/** Blocks of PEM with a private key, in their order. One that is cut off goes to the end of the text. */
function privateKeys(text: string): { readonly start: number; readonly end: number }[] {
  const blocks: { start: number; end: number }[] = [];
  for (let start = text.indexOf(BEGIN); start !== -1;) {
    const title = text.slice(start + BEGIN.length, start + BEGIN.length + 40);
    const isPrivate = /^[A-Z ]*PRIVATE KEY/.test(title);
    const stop = isPrivate ? text.indexOf(END, start) : -1;
    const close = stop === -1 ? -1 : text.indexOf('-----', stop + END.length);
    const end = !isPrivate ? start + BEGIN.length : close === -1 ? text.length : close + 5;
    if (isPrivate) blocks.push({ start, end });
    start = text.indexOf(BEGIN, end);
  }
  return blocks;
}
