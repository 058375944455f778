/** The pages to offer, counted from 1: the first, the last, and those beside the one shown; null where some are left out. */
export function pagesAround(shown: number, pages: number, beside = 2): (number | null)[] {
  const offered = new Set([1, pages]);
  for (let page = shown - beside; page <= shown + beside; page += 1) if (page >= 1 && page <= pages) offered.add(page);
  const sorted = [...offered].sort((a, b) => a - b);
  return sorted.flatMap((page, index) => (page - (sorted[index - 1] ?? page) > 1 ? [null, page] : [page]));
}
