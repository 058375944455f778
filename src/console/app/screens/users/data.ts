import { USER_TAG } from '../../../model/list-query.js';
import { boundsOf, rangeOf } from '../../../model/range.js';
import { batchesOf, figuresByUser, figuresOf, MAX_USERS, type UserFigures } from '../../../model/users.js';
import { call, type AnswerOf } from '../../state/api.js';
import { place } from '../../state/location.js';
import { useQuery, type Answer } from '../../state/query.js';

const FIELD = `tags.${USER_TAG}`;
/** One bucket for decades: no one looks at them. */
const BUCKET = '3650d';

/** The time that is shown, for calls that count no more than some days where nothing bounds it. */
function bounds(): Readonly<Record<string, string>> {
  const asked = boundsOf(rangeOf(place.value.query));
  return Object.keys(asked).length === 0 ? { started_after: '1970-01-01' } : asked;
}

/** The call that counts the users of the time that is shown, the most active first. */
export function usersAsked(prefix: string) {
  return { ...bounds(), field: FIELD, limit: MAX_USERS, ...(prefix !== '' && { prefix }) };
}

export function useUsers(query: ReturnType<typeof usersAsked>): Answer<AnswerOf<'GET /traces:facets'>> {
  return useQuery({
    key: ['/traces', 'facets', query],
    ask: (signal) => call('GET /traces:facets', { query, signal }),
  });
}

/** What the users of an answer did in the time that is shown. */
export function useUserFigures({ data, isPlaceholderData }: ReturnType<typeof useUsers>) {
  const users = data?.values.map(({ value }) => String(value)) ?? [];
  const between = bounds();
  return useQuery<ReadonlyMap<string, UserFigures>>({
    key: ['/traces', 'figures of users', between, users],
    enabled: users.length > 0 && !isPlaceholderData,
    // Figures of another time would stand beside users of this one.
    keep: false,
    ask: async (signal) => {
      const found = new Map<string, UserFigures>();
      // One after the other: whoever sends spans meanwhile shares the server.
      for (const batch of batchesOf(users)) {
        const { groups } = await ask(batch, between, signal);
        for (const [user, figures] of figuresByUser(groups)) if (batch.includes(user)) found.set(user, figures);
      }
      // A trace may name several users, each a group, too, which may take the place of one that is asked for.
      for (const user of users.filter((user) => !found.has(user))) {
        const { totals, groups, to } = await ask([user], between, signal);
        const group = groups.find(({ value }) => String(value) === user);
        // Without an upper bound the time ends with the last start.
        const last = group?.last_started_at ?? ('started_before' in between ? null : to);
        found.set(user, figuresOf(totals, last));
      }
      return found;
    },
  });
}

function ask(users: readonly string[], between: Readonly<Record<string, string>>, signal: AbortSignal) {
  const asked = { ...between, group_by: FIELD, bucket: BUCKET, measures: 'count,errors,cost,tokens' };
  const query = new URLSearchParams(asked);
  for (const user of users) query.append(FIELD, user);
  return call('GET /traces:stats', { query, signal });
}
